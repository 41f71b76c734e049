import type { LanguageTexts } from './language-texts.ts';

export const es: LanguageTexts = {
  account: '{description} …{lastFour}',
  messages: {
    LOW_BALANCE: '{account} bajó de {threshold}. Disponible: {balance}.',
    HIGH_BALANCE: '{account} superó {threshold}. Disponible: {balance}.',
    DEPOSIT: 'Se depositaron {amount} en {account}. Disponible: {balance}.',
    PAYMENT: 'Se pagaron {amount} desde {account}. Disponible: {balance}.',
    TRANSFER_COMPLETE: 'Su transferencia de {amount} desde {account} se completó.',
    TRANSFER_FAILED: 'Su transferencia de {amount} desde {account} falló.',
    TRANSFER_PENDING: 'Su transferencia de {amount} desde {account} está pendiente.',
    CONTACT_CHANGED: 'Sus datos de contacto cambiaron. Si usted no los cambió, llámenos de inmediato.',
    PASSWORD_CHANGED: 'Su contraseña cambió o terminó. Si no fue usted, llámenos de inmediato.',
  },
};
