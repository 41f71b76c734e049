import { appendEvents } from '../../events/index.ts';
import { deviceName } from '../../shared/text/device-name.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { type KindOfDevice, noteDevice } from './device-queries.ts';

/** A device that is not used for this long is new again. Browsers keep a cookie no longer. */
export const deviceDays = 400;

/** The mark by which a device is known. */
export type Device =
  | { readonly kind: 'browser'; readonly secret: string; readonly userAgent: string | undefined }
  /** A token bound to a key: the app has one for each installation. */
  | { readonly kind: 'key'; readonly keyThumbprint: string }
  /** The app's own id of the device, or null: then all its devices are one. */
  | { readonly kind: 'app'; readonly clientId: string; readonly deviceId: string | null };

/**
 * Notes the device of a sign-in in the transaction that admits it. The institution gets an event for a new device, and the member an
 * alert; a member's first device raises none.
 */
export async function seeDevice(
  tx: Transaction,
  { vault }: Pick<AuthDeps, 'vault'>,
  seen: { readonly userKey: bigint; readonly device: Device; readonly clientId: string; readonly at: Date },
): Promise<void> {
  const { userKey, device, clientId, at } = seen;
  const deviceHash = vault.hash('device', JSON.stringify(partsOf(device)));
  const about = { kind: kindOf(device), clientId, name: nameOf(device) };
  if (!(await noteDevice(tx, { userKey, deviceHash, at, ...about }))) return;
  await appendEvents(tx, [{ kind: 'member.new_device', subjectKey: userKey, data: { clientId } }], at);
}

function kindOf(device: Device): KindOfDevice {
  switch (device.kind) {
    case 'browser':
      return 'BROWSER';
    case 'key':
      return 'KEY';
    case 'app':
      return device.deviceId === null ? 'APP_WITHOUT_ID' : 'APP';
  }
}

function nameOf(device: Device): string | null {
  return device.kind === 'browser' ? (deviceName(device.userAgent ?? null) ?? null) : null;
}

function partsOf(device: Device): readonly (string | null)[] {
  switch (device.kind) {
    case 'browser':
      return [device.kind, device.secret];
    case 'key':
      return [device.kind, device.keyThumbprint];
    case 'app':
      return [device.kind, device.clientId, device.deviceId];
  }
}
