/** A color in lower case, like `#0b5d4a`. Undefined for another text. */
export function readColor(given: string): string | undefined {
  const color = given.toLowerCase();
  return isColor(color) ? color : undefined;
}

export function isColor(text: string): boolean {
  return /^#[0-9a-f]{6}$/.test(text);
}

const white = '#ffffff';
/** `--card` of pages in the dark (src/http/sign-in/style.ts). */
const darkCard = '#182028';
/** WCAG 2.2, 1.4.3: text of a usual size. */
const leastContrast = 4.5;

/** Whether white text can be read on the color, and the color on white. */
export function isReadable(color: string): boolean {
  return contrastOf(color, white) >= leastContrast;
}

/** The color for pages in the dark: mixed with as little white as its contrast on a dark card needs. */
export function colorInTheDark(color: string): string {
  for (let share = 0; share < 1; share += 0.01) {
    const lighter = mixed(color, white, share);
    if (contrastOf(lighter, darkCard) >= leastContrast) return lighter;
  }
  return white;
}

export interface Tones {
  /** Words and buttons. */
  readonly accent: string;
  /** An area behind words in the accent. */
  readonly soft: string;
}

/** The areas of the console on which words stand (web/design/tokens.css), the one with the least contrast first. */
const consoleAreas = { light: ['#edf0ed', '#f4f6f4', white], dark: ['#161d1a', '#111815', '#0e1412'] };

/** The color for the console: mixed with as little black, or in the dark white, as its contrast on each area needs. */
export function consoleTones(color: string, scheme: 'light' | 'dark'): Tones {
  const areas = consoleAreas[scheme];
  const [end, ground, tint] = scheme === 'light' ? ['#000000', white, 0.9] : [white, '#161d1a', 0.82];
  for (let share = 0; share < 1; share += 0.01) {
    const accent = mixed(color, end, share);
    const soft = mixed(accent, ground, tint);
    if ([soft, ...areas].every((area) => contrastOf(accent, area) >= leastContrast)) return { accent, soft };
  }
  return { accent: end, soft: ground };
}

/** The ratio of their luminances, from 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(color).map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** `share` of the other color, from 0 to 1. */
function mixed(color: string, other: string, share: number): string {
  const others = partsOf(other);
  const parts = partsOf(color).map((part, at) => Math.round(part + ((others[at] ?? part) - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Red, green and blue, from 0 to 255. */
function partsOf(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
