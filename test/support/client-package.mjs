// Preloaded into programs that import the client as its users do: @sharedraft/client is the source of this repository.
import { registerHooks } from 'node:module';

const source = new URL('../../client/src/index.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === '@sharedraft/client' ? source : specifier, context),
});
