/** The one source of time. Tests set it; nothing in the database reads a clock of its own. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
