// Preloaded into the service by node --import: its clock stands at FIXED_TIME, so that pictures have the same times in each run.
const fixed = Date.parse(process.env.FIXED_TIME);

globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(fixed);
    else super(...given);
  }

  static now() {
    return fixed;
  }
};
