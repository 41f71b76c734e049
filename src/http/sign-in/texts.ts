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
    passkey: 'Sign in with a passkey',
    forgotten: 'Forgot your password?',
    isNew: 'New here?',
    activate: 'Activate your access',
    refused:
      'The username, the password or the passkey is wrong, or this login is locked for now. Check and try again.',
  },
  activation: {
    title: 'Activate your access',
    lead: (institution: string) =>
      `${institution} sent you a code. Choose the username and the password for your sign-ins.`,
    onItsWay: (institution: string) =>
      `If the username is known, ${institution} sends a code to the address that it has of you. Enter it here, and choose a new password.`,
    code: 'Code',
    usernameForm: '6 to 64 characters. Capitals make no difference.',
    passwordForm: 'At least 15 characters, or as many as your institution asks for. A few words are good.',
    submit: 'Activate and sign in',
    refusals: {
      activation_code_invalid:
        'The code is wrong, was used before, or has expired. Ask your institution for a new one.',
      username_rejected:
        'This username cannot be used. Choose another one of 6 to 64 letters, digits, dots, dashes or underscores.',
      password_rejected:
        'This password is too short or easy to guess. Choose a longer one, of words that others do not know.',
      username_taken: 'Somebody else has this username. Choose another one.',
      too_many_requests:
        'Too many members are being activated today. Try again tomorrow; your code stays valid.',
    },
  },
  forgotten: {
    title: 'Forgot your password?',
    lead: (institution: string) => `${institution} sends you a code, with which you choose a new one.`,
    submit: 'Send the code',
    passkey:
      'A code is good for half an hour. While it is, no other one is sent. A passkey needs no password: go back and use it.',
  },
  security: {
    title: 'Sign-in and security',
    lead: 'All that may act for you here. End what you do not know.',
    list: 'Your passkeys',
    about:
      'A passkey signs you in with your fingerprint, your face or the lock of your device. No other site can use it.',
    none: 'You have no passkey yet.',
    full: 'You have ten passkeys. Remove one to add another.',
    name: 'Name of the new passkey',
    defaultName: 'My device',
    add: 'Add a passkey',
    remove: 'Remove',
    needsScript: 'Adding a passkey needs JavaScript.',
    device: 'On one device',
    synced: 'On your synced devices',
    added: (day: string) => `added ${day}`,
    used: (day: string) => `last used ${day}`,
    unused: 'not used yet',
    browsers: 'Where you are signed in',
    thisBrowser: 'this browser',
    unknownDevice: 'A browser',
    since: (time: string) => `since ${time}`,
    apps: 'Apps that stay signed in',
    noApps: 'No app stays signed in.',
    endOthers: 'Sign out everywhere else',
    consents: 'Apps that you allowed',
    noConsents: 'You allowed no app to use your accounts.',
    may: (rights: readonly string[]) => `may ${rights.join(', ')}`,
    until: (day: string) => `until ${day}`,
    end: 'End',
    signIns: 'Last sign-ins',
    signInOutcomes: { succeeded: 'Signed in', refused: 'Refused' },
    outcomes: {
      ended: 'It was ended, and can do nothing more.',
      ended_before: 'It had ended before.',
      added: 'The passkey was added. Use it the next time that you sign in.',
      removed: 'The passkey was removed, and you are signed out in other browsers.',
      refused: 'That did not work. Nothing was changed.',
    },
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
  unknownLink: 'The link is incomplete or no longer valid.',
  busy: 'Too many people are signing in. Wait a moment and try again.',
  foreign: 'The form was sent from another site.',
  unsafe: 'Sign-in needs https.',
} as const;
