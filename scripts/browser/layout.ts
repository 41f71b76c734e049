import type { Page } from 'playwright-core';

/**
 * WCAG 1.4.4 and 1.4.10: the page scrolls in one direction, and no text is cut or lies outside the window. A table may scroll by itself in a wide
 * window, not on a phone. No amount, name or e-mail address breaks inside if it fits into a line.
 */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const scrolls = (element) => {
      for (let one = element.parentElement; one; one = one.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(one).overflowX)) return true;
      return false;
    };
    const hasText = (element) =>
      [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const found = [];
    const whole = /[\\p{L}\\p{N}@._,:$']+/gu;
    const broken = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).flatMap((node) =>
      [...node.data.matchAll(whole)].flatMap(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
        const width = lines.reduce((sum, line) => sum + line.width, 0);
        const room = element.closest('dl > div, td, li, p, h1, h2, section')?.clientWidth ?? innerWidth;
        return new Set(lines.map(({ top }) => Math.round(top))).size > 1 && width < room ? [word] : [];
      }));
    for (const element of document.querySelectorAll('body *')) {
      const box = element.getBoundingClientRect();
      if (!hasText(element) || box.width === 0 || element.closest('.visually-hidden, .skip')) continue;
      // Hidden on purpose, but not for screen readers.
      if (getComputedStyle(element).clipPath === 'inset(50%)') continue;
      const words = element.textContent.trim().slice(0, 60);
      if (!element.textContent.includes('://')) found.push(...broken(element).map((word) => 'broken inside: ' + word));
      const isClipped = ['hidden', 'clip'].includes(getComputedStyle(element).overflowX);
      if (isClipped && element.scrollWidth > element.clientWidth + 1) found.push('cut: ' + words);
      if (box.right > innerWidth + 1 && !scrolls(element)) found.push('outside the window: ' + words);
    }
    for (const frame of innerWidth < 704 ? document.querySelectorAll('.table-frame') : [])
      if (frame.scrollWidth > frame.clientWidth + 1) found.push('the table scrolls sideways: ' + frame.getAttribute('aria-label'));
    if (document.documentElement.scrollWidth > innerWidth + 1) found.push('the page scrolls sideways');
    return found;
  })()`);
}

/** Elements that move although the browser asks for less motion (WCAG 2.3.3). */
export function motionFaults(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const seconds = (text) => Math.max(...text.split(',').map(Number.parseFloat));
    return [...document.querySelectorAll('*')]
      .filter((element) => {
        const { transitionDuration, animationDuration, animationName } = getComputedStyle(element);
        return seconds(transitionDuration) > 0 || (animationName !== 'none' && seconds(animationDuration) > 0);
      })
      .map((element) => 'moves: ' + element.outerHTML.slice(0, 80));
  })()`);
}
