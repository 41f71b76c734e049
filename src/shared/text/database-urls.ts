/**
 * One URL for each host that a connection URL names, as libpq has it: `postgres://user@one:5432,two:5433/bank`, or with
 * several folders of sockets in the parameter `host`.
 */
export function oneUrlPerHost(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (hosts.includes(',')) return hosts.split(',').map((host) => `${start}${host}${rest}`);
  const [, before = '', folders = '', after = ''] = /^(.*[?&]host=)([^&#]*)(.*)$/s.exec(url) ?? [];
  const several = decodeURIComponent(folders).split(',');
  if (several.length < 2) return [url];
  return several.map((folder) => `${before}${encodeURIComponent(folder)}${after}`);
}

/** The URL as libpq searches its hosts: without the parameter it takes the first one that responds, which may be a standby. */
export function withWritableHost(url: string): string {
  if (/[?&]target_session_attrs=/.test(url)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}target_session_attrs=read-write`;
}
