// Walks the browser applications in Chromium, one after the other: npm run browser [-- --pictures]
await import('./walk-app.ts');
await import('./walk-console.ts');
await import('./walk-sign-in.ts');
await import('./walk-operators.ts');
