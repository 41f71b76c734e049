import type { Scope } from '../../auth/index.ts';

/** Every text of the pages; another language is another file like this. */
export const texts = {
  language: 'en',
  signIn: {
    title: 'Sign in',
    lead: (institution: string, app: string) => `to continue to ${app} with your ${institution} account`,
    username: 'Username',
    password: 'Password',
    submit: 'Sign in',
    refused:
      'The username or the password is wrong, or this login is locked for now. Check both and try again.',
  },
  consent: {
    title: (app: string) => `Allow ${app}?`,
    lead: (institution: string, app: string) =>
      `${app} asks to use your ${institution} accounts. It never sees your password.`,
    list: 'It may',
    duration: 'For how long',
    days: { 30: '30 days', 90: '90 days', 365: 'One year' },
    allow: 'Allow',
    refuse: 'Do not allow',
    end: 'You can end this at any time.',
  },
  scopes: {
    openid: 'know that it is you',
    profile: 'see your name',
    email: 'see your e-mail address',
    'account:read': 'see your accounts, balances and transactions',
    'institution-users:read': 'see your profile',
    'institution-users:write': 'change your contact details',
    'transfer:read': 'see your transfers',
    'transfer:write': 'move money between accounts that you may use',
    'alertPref:read': 'see which alerts you want',
    'alertPref:write': 'change which alerts you want',
    'alertHist:read': 'see your alerts',
    offline_access: 'go on while you are away',
  } as Readonly<Partial<Record<Scope, string>>>,
  signOut: {
    title: 'Sign out?',
    lead: 'This ends your session in this browser.',
    submit: 'Sign out',
    done: 'You are signed out',
    doneLead: 'You can close this page.',
  },
  refused: {
    title: 'This did not work',
    lead: 'Go back to the app and start again. If it happens again, tell the people who run the app:',
  },
  busy: 'Too many people are signing in. Wait a moment and try again.',
  foreign: 'The form was sent from another site.',
  unsafe: 'Sign-in needs https.',
} as const;
