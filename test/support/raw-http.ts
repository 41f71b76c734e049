import { connect } from 'node:net';

/** The bytes received on a connection until the server closed it, or until `quietMillis` without any. */
export interface RawConversation {
  readonly text: string;
  readonly ended: boolean;
}

/** Sends raw bytes, which no HTTP library would. Numbers among the parts are pauses in milliseconds. */
export async function sendRaw(
  port: number,
  parts: readonly (string | number)[],
  quietMillis = 3_000,
): Promise<RawConversation> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const ended = new Promise<boolean>((resolve) => {
    socket.setTimeout(quietMillis, () => resolve(false));
    socket.on('close', () => resolve(true));
    socket.on('error', () => resolve(true));
  });
  for (const part of parts) {
    if (typeof part === 'number') await new Promise((resolve) => setTimeout(resolve, part));
    else if (socket.writable) socket.write(part);
  }
  const conversation = { ended: await ended, text };
  socket.destroy();
  return conversation;
}
