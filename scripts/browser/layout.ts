import type { Page } from 'playwright-core';

/** WCAG 1.4.4 and 1.4.10: the page scrolls in one direction, and no text is cut or lies outside the window. Tables may scroll by themselves. */
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
    for (const element of document.querySelectorAll('body *')) {
      const box = element.getBoundingClientRect();
      if (!hasText(element) || box.width === 0 || element.closest('.visually-hidden, .skip')) continue;
      const words = element.textContent.trim().slice(0, 60);
      const isClipped = ['hidden', 'clip'].includes(getComputedStyle(element).overflowX);
      if (isClipped && element.scrollWidth > element.clientWidth + 1) found.push('cut: ' + words);
      if (box.right > innerWidth + 1 && !scrolls(element)) found.push('outside the window: ' + words);
    }
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
