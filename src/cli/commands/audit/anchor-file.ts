import type { OutsideAnchor } from '../../../events/index.ts';

/** An anchor as `audit anchor` prints it: the signed statement, and the key that verifies it. */
export interface PrintedAnchor {
  readonly institution: string;
  readonly chain: string;
  readonly number: number;
  readonly hash: string;
  readonly at: string;
  readonly anchor: string;
  readonly key: { readonly kid: string; readonly x: string };
}

/** The anchors in a text of one JSON document a line. Other lines are ignored, since the text may be a log. */
export function readAnchorFile(text: string): OutsideAnchor[] {
  return text.split('\n').flatMap((line) => {
    try {
      const { anchor, key } = JSON.parse(line);
      if (typeof anchor !== 'string') return [];
      return [{ jws: anchor, ...(key && { keys: new Map([[String(key.kid), String(key.x)]]) }) }];
    } catch {
      return [];
    }
  });
}
