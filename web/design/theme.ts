import { effect, signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'theme';
const stored = localStorage.getItem(key);

/** The choice of this browser; `system` follows the device. */
export const theme = signal<Theme>(themes.find((one) => one === stored) ?? 'system');

effect(() => {
  if (theme.value === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(key);
  } else {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem(key, theme.value);
  }
});
