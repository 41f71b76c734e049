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
    CONTACT_CHANGED: 'Your contact information was changed. If you did not change it, call us at once.',
    PASSWORD_CHANGED: 'Your password was changed or ended. If you did not do this, call us at once.',
  },
};
