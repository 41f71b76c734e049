/** A message of PostgreSQL's server: its kind, its length, its content. */
export function serverMessage(kind: string, content: Buffer | string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + Buffer.byteLength(content));
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(content)]);
}

export function serverError(code: string): Buffer {
  return serverMessage('E', `SFATAL\0VFATAL\0C${code}\0said by a test\0\0`);
}
