import { readFileSync } from 'node:fs';

const parameter = 'passwordfile';

/** The URL with the file of its password, which is read for each new connection: a password is replaced without a restart. */
export function withPasswordFile(url: string, file: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${parameter}=${encodeURIComponent(file)}`;
}

/** The URL as the driver takes it, with the password that the file has now. Throws if the file cannot be read. */
export function resolvePasswordFile(url: string): string {
  const named = new RegExp(`[?&]${parameter}=([^&]*)`).exec(url);
  if (named === null) return url;
  const rest = url.replace(named[0], '');
  const own = rest.includes('?') ? rest : rest.replace('&', '?');
  const password = readFileSync(decodeURIComponent(named[1] as string), 'utf8').replace(/\r?\n$/, '');
  return `${own}${own.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;
}
