import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/* A separate thread: an estimate takes up to half a second, and the dictionaries use tens of megabytes until the thread ends. */

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

parentPort?.on('message', ({ texts }: { readonly texts: readonly string[] }) => {
  parentPort?.postMessage(Math.min(...texts.map((text) => estimator.check(text).guessesLog10)));
});
