/** Every text of the operators' pages; another language is another file like this. */
export const texts = {
  language: 'en',
  title: 'Sign in to the console',
  lead: 'For the people who run the institution.',
  continueAs: (name: string) => `Continue as ${name}`,
  demoOnly: 'These buttons exist in a demo on this machine only.',
  noWay: 'The institution has no way to sign in yet. Ask its administrator.',
} as const;
