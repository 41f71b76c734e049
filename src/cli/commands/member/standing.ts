import { Command } from 'commander';
import { endConsentByOperator, endSessions, removeSecondFactor, setStanding } from '../../../auth/index.ts';
import { readReason } from '../../arguments.ts';
import { CommandError, type InstitutionOptions, onInstitution, say } from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { noSuchUser, user } from './credentials.ts';

interface Options extends InstitutionOptions, ConfirmOptions {
  readonly reason?: string;
}

interface StandingCommand {
  readonly description: string;
  readonly change: { readonly lockedByOperator: boolean } | { readonly active: boolean };
  readonly state: string;
  /** The harm that the operator confirms. */
  readonly effect?: string;
}

const standings: Readonly<Record<string, StandingCommand>> = {
  lock: {
    description: 'lock a member out; active tokens end',
    change: { lockedByOperator: true },
    state: 'locked',
    effect: 'is locked out, and every session ends',
  },
  unlock: {
    description: 'end any lock of a member',
    change: { lockedByOperator: false },
    state: 'not locked',
  },
  deactivate: {
    description: 'switch a member off; active tokens end',
    change: { active: false },
    state: 'deactivated',
    effect: 'is switched off, and every session ends',
  },
  activate: { description: 'switch a member on again', change: { active: true }, state: 'active' },
};

export function standingCommands(): Command[] {
  return [
    ...Object.entries(standings).map(([name, one]) => standingCommand(name, one)),
    endSessionsCommand(),
    endConsentCommand(),
    removeSecondFactorCommand(),
  ];
}

function standingCommand(command: string, { description, change, state, effect }: StandingCommand): Command {
  const base = withReason(new Command(command).description(description));
  return onInstitution(
    effect === undefined ? base : base.addOption(yesOption()),
    async ({ auth, institutionId, origin }, { reason, ...options }: Options, name: string) => {
      if (effect !== undefined) await confirm(`${name} ${effect}.`, options);
      const wanted = { name, ...change, statedReason: reason, origin };
      const changed = await setStanding(auth, institutionId, wanted);
      if (changed === 'no_such_user') throw noSuchUser();
      say(
        changed === 'unchanged'
          ? `${name} is ${state} already. Nothing was changed.`
          : `${name} is ${state}.`,
      );
    },
  );
}

function endSessionsCommand(): Command {
  return onInstitution(
    withReason(
      new Command('end-sessions').description('end every session of a member, who may sign in again'),
    ).addOption(yesOption()),
    async ({ auth, institutionId, origin }, { reason, ...options }: Options, name: string) => {
      await confirm(`Every session of ${name} ends, in all apps.`, options);
      if (!(await endSessions(auth, institutionId, { name, statedReason: reason, origin })))
        throw noSuchUser();
      say(`Every session of ${name} has ended.`);
    },
  );
}

function endConsentCommand(): Command {
  return onInstitution(
    new Command('end-consent')
      .description('end a consent of a member, with all tokens that came of it')
      .argument('<consent>', 'its id, which `member show` lists')
      .option(...reasonOption)
      .addOption(yesOption()),
    async ({ auth, institutionId, origin }, { reason, ...options }: Options, consentId: string) => {
      await confirm(`The app of consent ${consentId} loses its access at once.`, options);
      const act = { consentId, statedReason: reason, origin };
      const ended = await endConsentByOperator(auth, institutionId, act);
      if (ended === undefined)
        throw new CommandError('There is no such consent. `sharedraft member show` lists them.');
      say(ended ? `Consent ${consentId} has ended.` : `Consent ${consentId} had ended. Nothing was changed.`);
    },
  );
}

function removeSecondFactorCommand(): Command {
  return onInstitution(
    withReason(
      new Command('remove-second-factor').description(
        'remove the authenticator app and the recovery codes of a member who lost both, after a proof of the person',
      ),
    ).addOption(yesOption()),
    async ({ auth, institutionId, origin }, { reason, ...options }: Options, name: string) => {
      await confirm(`${name} then signs in with the password alone.`, options);
      const removed = await removeSecondFactor(auth, institutionId, { name, statedReason: reason, origin });
      if (removed === 'no_such_user') throw noSuchUser();
      say(
        removed === 'unchanged'
          ? `${name} has no authenticator app. Nothing was changed.`
          : `${name} signs in with the password alone.`,
      );
    },
  );
}

const reasonOption = ['--reason <text>', 'why, for the audit', readReason] as const;

function withReason(command: Command): Command {
  return command.argument(...user).option(...reasonOption);
}
