import {
  type Institution,
  type InstitutionPolicies,
  type Settings,
  settingsOf,
} from '../../institutions/index.ts';
import { defined } from '../../shared/defined.ts';
import { formatMinor } from '../../transfers/index.ts';

/** An institution with its settings, as operators see it. Amounts are decimal text. */
export function institutionDocument(institution: Institution) {
  const { code, currency, record, demo, clockAheadSeconds } = institution;
  const stored = settingsDocument(settingsOf(institution), currency);
  return { code, currency, record, demo, clockAheadSeconds, ...stored };
}

/** The settings of a change. */
export function settingsDocument(
  settings: Partial<Omit<Settings, keyof InstitutionPolicies> & InstitutionPolicies>,
  currency: string,
): Readonly<Record<string, unknown>> {
  const { openingDepositMinor, openingDepositsPerDayMinor, transferStepUpAboveMinor, ...others } = settings;
  const amount = (minor: bigint | undefined) =>
    minor === undefined ? undefined : formatMinor(minor, currency);
  return defined({
    ...others,
    openingDeposit: amount(openingDepositMinor),
    openingDepositsPerDay: amount(openingDepositsPerDayMinor),
    transferStepUpAbove: amount(transferStepUpAboveMinor),
  });
}
