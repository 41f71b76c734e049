declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: { readonly accept?: string | undefined } });
    mediaType(available: readonly string[]): string | undefined;
  }
}
