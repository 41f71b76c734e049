/*
 * A QR code (ISO/IEC 18004) of bytes at level L, drawn as SVG: an image of our own, so that no secret goes to another service. The order:
 * codewords with error correction, the fixed patterns, the data in zigzag, the mask, the format.
 */

/** By version from 1: error correction codewords of a block, and blocks, at level L. */
const codewordsOfCorrection = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28];
const blockCounts = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8];

/** An SVG path of the dark modules, a unit each, and the width of the code. Undefined beyond 858 bytes of UTF-8. */
export function qrPath(text: string): { readonly path: string; readonly width: number } | undefined {
  const version = versionFor(Buffer.byteLength(text));
  if (version === undefined) return undefined;
  const grid = new Grid(version);
  grid.drawPatterns();
  grid.drawData(withCorrection(dataCodewords(Buffer.from(text), version), version));
  grid.mask();
  const { width } = grid;
  let path = '';
  for (let y = 0; y < width; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (!grid.isDark(x, y)) continue;
      let run = 1;
      while (x + run < width && grid.isDark(x + run, y)) run += 1;
      path += `M${x} ${y}h${run}v1h-${run}z`;
      x += run;
    }
  }
  return { path, width };
}

function versionFor(bytes: number): number | undefined {
  for (let version = 1; version <= blockCounts.length; version += 1) {
    if (bytes <= dataLength(version) - (version < 10 ? 2 : 3)) return version;
  }
  return undefined;
}

/** Codewords that a version holds: all modules without the fixed patterns. */
function totalLength(version: number): number {
  const alignments = version === 1 ? 0 : Math.floor(version / 7) + 2;
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) modules -= (25 * alignments - 10) * alignments - 55;
  if (version >= 7) modules -= 36;
  return Math.floor(modules / 8);
}

function dataLength(version: number): number {
  return totalLength(version) - at(codewordsOfCorrection, version - 1) * at(blockCounts, version - 1);
}

/** Mode 4 (bytes), the length, the bytes, a terminator, and padding. */
function dataCodewords(bytes: Uint8Array, version: number): number[] {
  const bits = [4, ...bytes].map((byte, index) => byte.toString(2).padStart(index === 0 ? 4 : 8, '0'));
  bits.splice(1, 0, bytes.length.toString(2).padStart(version < 10 ? 8 : 16, '0'), '');
  const length = dataLength(version);
  const text = `${bits.join('')}0000`.slice(0, length * 8);
  const codewords = (text.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));
  for (let pad = 0xec; codewords.length < length; pad ^= 0xec ^ 0x11) codewords.push(pad);
  return codewords;
}

/** Splits the data into blocks, the shorter ones first, and interleaves them and their error correction. */
function withCorrection(data: readonly number[], version: number): number[] {
  const correction = at(codewordsOfCorrection, version - 1);
  const count = at(blockCounts, version - 1);
  const generator = generatorOf(correction);
  const shorter = Math.floor(data.length / count);
  const shorterCount = count - (data.length % count);
  const blocks: number[][] = [];
  for (let start = 0; blocks.length < count; ) {
    const length = shorter + (blocks.length < shorterCount ? 0 : 1);
    blocks.push(data.slice(start, start + length));
    start += length;
  }
  const corrections = blocks.map((block) => remainderOf(block, generator));
  return [...interleave(blocks, shorter + 1), ...interleave(corrections, correction)];
}

function interleave(blocks: readonly (readonly number[])[], longest: number): number[] {
  return Array.from({ length: longest }, (_, place) => blocks.flatMap((block) => block[place] ?? [])).flat();
}

/** The product in the field of 256 elements with the polynomial 0x11d. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/** The generator polynomial of Reed and Solomon, highest power first, without its leading 1. */
function generatorOf(degree: number): number[] {
  const generator: number[] = [...Array(degree - 1).fill(0), 1];
  let root = 1;
  for (let round = 0; round < degree; round += 1) {
    for (let place = 0; place < degree; place += 1) {
      generator[place] = times(at(generator, place), root) ^ (generator[place + 1] ?? 0);
    }
    root = times(root, 2);
  }
  return generator;
}

function remainderOf(data: readonly number[], generator: readonly number[]): number[] {
  const remainder: number[] = Array(generator.length).fill(0);
  for (const byte of data) {
    const factor = byte ^ (remainder.shift() ?? 0);
    remainder.push(0);
    for (const [place, coefficient] of generator.entries()) {
      remainder[place] = at(remainder, place) ^ times(coefficient, factor);
    }
  }
  return remainder;
}

class Grid {
  readonly version: number;
  readonly width: number;
  readonly #dark: boolean[][];
  readonly #fixed: boolean[][];

  constructor(version: number) {
    this.version = version;
    this.width = version * 4 + 17;
    const rows = () => Array.from({ length: this.width }, () => Array<boolean>(this.width).fill(false));
    this.#dark = rows();
    this.#fixed = rows();
  }

  isDark(x: number, y: number): boolean {
    return this.#dark[y]?.[x] === true;
  }

  drawPatterns(): void {
    const end = this.width - 1;
    for (let place = 0; place <= end; place += 1) {
      this.#fix(6, place, place % 2 === 0);
      this.#fix(place, 6, place % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [end - 3, 3],
      [3, end - 3],
    ] as const) {
      this.#rings(x, y, { radius: 4, light: [2, 4] });
    }
    const centers = this.#alignmentCenters();
    const last = centers.at(-1);
    for (const x of centers) {
      for (const y of centers) {
        const isFinder = (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
        if (!isFinder) this.#rings(x, y, { radius: 2, light: [1] });
      }
    }
    this.#drawFormat();
    if (this.version >= 7) this.#drawVersion();
  }

  /** Column pairs from the right, up and down in turns, around the fixed patterns. */
  drawData(codewords: readonly number[]): void {
    let bit = 0;
    for (let right = this.width - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      const isUpward = ((right + 1) & 2) === 0;
      for (let step = 0; step < this.width; step += 1) {
        const y = isUpward ? this.width - 1 - step : step;
        for (const x of [right, right - 1]) {
          if (this.#fixed[y]?.[x] === true) continue;
          const byte = codewords[bit >> 3] ?? 0;
          this.#set(x, y, ((byte >> (7 - (bit & 7))) & 1) === 1);
          bit += 1;
        }
      }
    }
  }

  /** Mask 0, a checkerboard. Readers know it from the format; the search for the mask that looks best is left out. */
  mask(): void {
    for (let y = 0; y < this.width; y += 1) {
      for (let x = y % 2; x < this.width; x += 2) {
        if (this.#fixed[y]?.[x] !== true) this.#set(x, y, !this.isDark(x, y));
      }
    }
  }

  #alignmentCenters(): number[] {
    if (this.version === 1) return [];
    const count = Math.floor(this.version / 7) + 2;
    const step = Math.ceil((this.version * 4 + 4) / (count * 2 - 2)) * 2;
    const centers = Array.from({ length: count - 1 }, (_, place) => this.width - 7 - place * step);
    return [6, ...centers.reverse()];
  }

  #rings(
    x: number,
    y: number,
    { radius, light }: { readonly radius: number; readonly light: readonly number[] },
  ): void {
    for (let dy = -radius; dy <= radius; dy += 1) {
      for (let dx = -radius; dx <= radius; dx += 1) {
        const distance = Math.max(Math.abs(dx), Math.abs(dy));
        this.#fix(x + dx, y + dy, !light.includes(distance));
      }
    }
  }

  /** Level L (1) and mask 0, with a BCH code, in both places. */
  #drawFormat(): void {
    const format = 1 << 3;
    const bits = ((format << 10) | bchOf(format, { generator: 0x537, degree: 10 })) ^ 0x5412;
    const end = this.width - 1;
    for (let bit = 0; bit < 15; bit += 1) {
      const isDark = ((bits >> bit) & 1) === 1;
      if (bit < 6) this.#fix(8, bit, isDark);
      else if (bit < 8) this.#fix(8, bit + 1, isDark);
      else if (bit === 8) this.#fix(7, 8, isDark);
      else this.#fix(14 - bit, 8, isDark);
      if (bit < 8) this.#fix(end - bit, 8, isDark);
      else this.#fix(8, end - 14 + bit, isDark);
    }
    this.#fix(8, end - 7, true);
  }

  #drawVersion(): void {
    const bits = (this.version << 12) | bchOf(this.version, { generator: 0x1f25, degree: 12 });
    for (let bit = 0; bit < 18; bit += 1) {
      const isDark = ((bits >> bit) & 1) === 1;
      const far = this.width - 11 + (bit % 3);
      const near = Math.floor(bit / 3);
      this.#fix(far, near, isDark);
      this.#fix(near, far, isDark);
    }
  }

  #set(x: number, y: number, isDark: boolean): void {
    const row = this.#dark[y];
    if (row !== undefined && x in row) row[x] = isDark;
  }

  /** Finder patterns reach over the edge by their light ring. */
  #fix(x: number, y: number, isDark: boolean): void {
    this.#set(x, y, isDark);
    const row = this.#fixed[y];
    if (row !== undefined && x in row) row[x] = true;
  }
}

function bchOf(value: number, { generator, degree }: { generator: number; degree: number }): number {
  let remainder = value;
  for (let round = 0; round < degree; round += 1) {
    remainder = (remainder << 1) ^ ((remainder >> (degree - 1)) * generator);
  }
  return remainder;
}

function at(list: readonly number[], place: number): number {
  const value = list[place];
  if (value === undefined) throw new RangeError(`no place ${place}`);
  return value;
}
