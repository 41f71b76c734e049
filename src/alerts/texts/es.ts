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
    PAYMENT_DUE: 'Un pago de {amount} a {account} vence el {dueOn}.',
    CONTACT_CHANGED: 'Sus datos de contacto cambiaron. Si usted no los cambió, llámenos de inmediato.',
    PASSWORD_CHANGED: 'Su contraseña cambió o terminó. Si no fue usted, llámenos de inmediato.',
    SECOND_FACTOR_CHANGED:
      'Se añadió o se quitó la aplicación de autenticación de su acceso. Si no fue usted, llámenos de inmediato.',
    RECOVERY_CODE_USED:
      'Se usó un código de recuperación de su acceso. Si no fue usted, llámenos de inmediato.',
    NEW_DEVICE: 'Su acceso se usó en un dispositivo nuevo. Si no fue usted, llámenos de inmediato.',
  },
  mail: {
    subjects: {
      LOW_BALANCE: 'Su saldo es bajo',
      HIGH_BALANCE: 'Su saldo es alto',
      DEPOSIT: 'Llegó un depósito',
      PAYMENT: 'Salió un pago',
      TRANSFER_COMPLETE: 'Su transferencia se completó',
      TRANSFER_FAILED: 'Su transferencia falló',
      TRANSFER_PENDING: 'Su transferencia está pendiente',
      PAYMENT_DUE: 'Vence un pago',
      CONTACT_CHANGED: 'Sus datos de contacto cambiaron',
      PASSWORD_CHANGED: 'Su contraseña cambió',
      SECOND_FACTOR_CHANGED: 'Se añadió o se quitó su aplicación de autenticación',
      RECOVERY_CODE_USED: 'Se usó un código de recuperación',
      NEW_DEVICE: 'Un dispositivo nuevo usó su acceso',
      DIGEST: 'Sus avisos del día',
    },
    automatic: 'Este mensaje se envió automáticamente. Nunca pedimos contraseñas ni códigos por correo.',
    always: 'Los mensajes sobre la seguridad de su acceso no se pueden desactivar.',
    unsubscribe: 'Dejar de recibir avisos por correo',
    page: {
      title: '¿Dejar de recibir avisos por correo?',
      lead: 'Los avisos sobre sus cuentas llegarán solo al buzón de la aplicación. Los mensajes sobre la seguridad de su acceso seguirán llegando por correo.',
      submit: 'Dejar de recibir',
      done: 'Ya no recibirá avisos por correo',
    },
  },
};
