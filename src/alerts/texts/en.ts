import type { LanguageTexts } from './language-texts.ts';

export const en: LanguageTexts = {
  account: '{description} …{lastFour}',
  messages: {
    LOW_BALANCE: '{account} fell below {threshold}. Available: {balance}.',
    HIGH_BALANCE: '{account} rose above {threshold}. Available: {balance}.',
    DEPOSIT: '{amount} was deposited to {account}. Available: {balance}.',
    PAYMENT: '{amount} was paid from {account}. Available: {balance}.',
    TRANSFER_COMPLETE: 'Your transfer of {amount} from {account} is complete.',
    TRANSFER_FAILED: 'Your transfer of {amount} from {account} failed.',
    TRANSFER_PENDING: 'Your transfer of {amount} from {account} is pending.',
    PAYMENT_DUE: 'A payment of {amount} to {account} is due on {dueOn}.',
    CONTACT_CHANGED: 'Your contact information was changed. If you did not change it, call us at once.',
    PASSWORD_CHANGED: 'Your password was changed or ended. If you did not do this, call us at once.',
    SECOND_FACTOR_CHANGED:
      'The authenticator app of your login was added or removed. If you did not do this, call us at once.',
    RECOVERY_CODE_USED: 'A recovery code of your login was used. If this was not you, call us at once.',
    NEW_DEVICE: 'Your login was used on a new device. If this was not you, call us at once.',
  },
  mail: {
    subjects: {
      LOW_BALANCE: 'Your balance is low',
      HIGH_BALANCE: 'Your balance is high',
      DEPOSIT: 'A deposit arrived',
      PAYMENT: 'A payment went out',
      TRANSFER_COMPLETE: 'Your transfer is complete',
      TRANSFER_FAILED: 'Your transfer failed',
      TRANSFER_PENDING: 'Your transfer is pending',
      PAYMENT_DUE: 'A payment is due',
      CONTACT_CHANGED: 'Your contact information was changed',
      PASSWORD_CHANGED: 'Your password was changed',
      SECOND_FACTOR_CHANGED: 'Your authenticator app was added or removed',
      RECOVERY_CODE_USED: 'A recovery code was used',
      NEW_DEVICE: 'A new device signed in',
      DIGEST: 'Your alerts of the day',
    },
    automatic: 'This message was sent automatically. We never ask for a password or a code by e-mail.',
    always: 'Messages about the security of your login cannot be switched off.',
    unsubscribe: 'Stop alerts by e-mail',
    page: {
      title: 'Stop alerts by e-mail?',
      lead: 'Alerts about your accounts then come to your inbox in the app only. Messages about the security of your login still come by e-mail.',
      submit: 'Stop',
      done: 'Alerts by e-mail are stopped',
    },
  },
};
