/**
 * One owner a table: the module that writes it, and the modules that may read it beside the owner. ARCHITECTURE.md shows this map.
 * A reader stands above the owner, so that a query never looks up the tree; the import's merges, which
 * stand with the tables that they write, are the exception.
 */
interface Ownership {
  readonly owner: string;
  readonly readers?: readonly string[];
}

/** Modules whose SQL may read any table: read models that join several modules and write nothing of them. */
export const readsEverything: readonly string[] = ['feed', 'metrics', 'operators', 'reconciliation'];

export const tableOwners: Readonly<Record<string, Ownership>> = {
  schema_migrations: { owner: 'storage', readers: ['cells'] },
  schema_functions: { owner: 'storage', readers: ['cells'] },

  institutions: {
    owner: 'institutions',
    readers: [
      'members',
      'auth',
      'core-system',
      'accounts',
      'events',
      'memory',
      'transfers',
      'core-connection',
      'alerts',
      'webhooks',
      'logouts',
      'cells',
    ],
  },
  business_days: { owner: 'institutions' },
  cell: { owner: 'institutions' },

  // In the database of the cells' directory.
  directory_cells: { owner: 'cell-directory' },
  directory_institutions: { owner: 'cell-directory' },
  directory_hosts: { owner: 'cell-directory' },
  directory_clients: { owner: 'cell-directory' },
  directory_providers: { owner: 'cell-directory' },
  directory_keys: { owner: 'cell-directory' },
  directory_entries: { owner: 'cell-directory' },
  directory_changes: { owner: 'cell-directory' },
  directory_changes_kept: { owner: 'cell-directory' },

  event_partitions: { owner: 'events' },
  outbox: { owner: 'events', readers: ['alerts', 'webhooks'] },
  audit_entries: { owner: 'events' },
  audit_chains: { owner: 'events' },
  audit_anchors: { owner: 'events' },
  audit_keys: { owner: 'events' },
  audit_retention: { owner: 'events' },
  event_epochs: { owner: 'events', readers: ['webhooks'] },

  alert_preferences: { owner: 'alerts' },
  alert_rules: { owner: 'alerts' },
  alerts: { owner: 'alerts' },
  alert_positions: { owner: 'alerts' },

  mail_senders: { owner: 'mail' },
  mail_suppressions: { owner: 'mail' },

  screening_hooks: { owner: 'screening', readers: ['transfers'] },

  logout_notices: { owner: 'logouts' },

  webhook_endpoints: { owner: 'webhooks' },
  webhook_keys: { owner: 'webhooks' },
  webhook_deliveries: { owner: 'webhooks' },
  webhook_attempts: { owner: 'webhooks' },

  event_marks: { owner: 'events', readers: ['webhooks'] },
  event_horizons: { owner: 'events', readers: ['webhooks'] },
  event_archived_entries: { owner: 'events' },
  event_timeline: { owner: 'events', readers: ['memory', 'standbys'] },

  operators: { owner: 'operators' },
  operator_sessions: { owner: 'operators' },
  operator_invitations: { owner: 'operators' },
  operator_passkeys: { owner: 'operators' },
  operator_providers: { owner: 'operators' },
  operator_device_requests: { owner: 'operators' },
  operator_provider_groups: { owner: 'operators' },

  reconcile_runs: { owner: 'reconciliation' },
  reconcile_results: { owner: 'reconciliation' },
  reconcile_findings: { owner: 'reconciliation' },

  changes: { owner: 'memory' },
  changes_kept: { owner: 'memory' },

  balances: {
    owner: 'ledger',
    readers: ['accounts', 'core-system', 'memory', 'transfers', 'core-connection'],
  },
  entries: { owner: 'ledger', readers: ['accounts', 'transfers', 'core-connection', 'alerts'] },
  control_totals: { owner: 'ledger' },

  persons: { owner: 'memberships', readers: ['accounts', 'auth', 'core-system', 'members', 'transfers'] },
  customers: { owner: 'memberships', readers: ['accounts', 'auth', 'core-system', 'members'] },
  customer_persons: {
    owner: 'memberships',
    readers: ['accounts', 'auth', 'core-system', 'members', 'transfers'],
  },

  accounts: { owner: 'accounts', readers: ['alerts', 'auth', 'core-connection', 'core-system', 'transfers'] },
  holders: { owner: 'accounts', readers: ['core-system', 'transfers', 'alerts', 'auth'] },
  loans: { owner: 'accounts', readers: ['alerts', 'core-system', 'transfers'] },

  import_runs: { owner: 'core-system' },
  // The rows that an import hands down: the modules below read them in their set-based statements, and write their own tables.
  staged_persons: { owner: 'core-system', readers: ['memberships'] },
  staged_members: { owner: 'core-system', readers: ['memberships', 'accounts'] },
  staged_member_persons: { owner: 'core-system', readers: ['memberships'] },
  staged_accounts: { owner: 'core-system', readers: ['accounts'] },
  staged_holders: { owner: 'core-system', readers: ['accounts'] },
  core_record_versions: { owner: 'core-system' },
  staged_rejects: { owner: 'core-system' },
  opening_counters: { owner: 'core-system' },
  openings: { owner: 'core-system' },

  users: { owner: 'members', readers: ['auth', 'transfers', 'alerts', 'mail', 'logouts'] },
  user_phones: { owner: 'members', readers: ['alerts'] },
  registration_tries: { owner: 'members' },

  activations: { owner: 'auth' },
  member_sessions: { owner: 'auth', readers: ['logouts'] },
  passkeys: { owner: 'auth' },
  passkey_challenges: { owner: 'auth' },
  authenticators: { owner: 'auth' },
  recovery_codes: { owner: 'auth' },
  user_devices: { owner: 'auth' },
  consents: { owner: 'auth', readers: ['transfers'] },
  consent_accounts: { owner: 'auth', readers: ['transfers'] },
  authorization_grants: { owner: 'auth', readers: ['logouts'] },
  email_codes: { owner: 'auth' },
  client_directory: { owner: 'auth' },
  client_keys: { owner: 'auth' },
  client_certificates: { owner: 'auth' },
  client_secrets: { owner: 'auth' },
  clients: { owner: 'auth', readers: ['logouts'] },
  identity_providers: { owner: 'auth' },
  provider_directory: { owner: 'auth' },
  refresh_families: { owner: 'auth' },
  revocations: { owner: 'auth' },
  signing_keys: { owner: 'auth' },
  cell_keys: { owner: 'auth' },
  hashing_key: { owner: 'auth' },
  provider_assertion_replays: { owner: 'auth' },
  client_assertion_replays: { owner: 'auth' },
  dpop_proofs: { owner: 'auth' },
  transfer_id_prefixes: { owner: 'auth', readers: ['transfers'] },

  transfers: { owner: 'transfers', readers: ['core-connection'] },
  idempotency_keys: { owner: 'transfers', readers: ['core-connection'] },
  pending_transfers: { owner: 'transfers' },
  transfer_approvals: { owner: 'transfers' },
  transfer_sign_ins: { owner: 'transfers' },
  transfer_consents: { owner: 'transfers' },
  transfer_screenings: { owner: 'transfers' },
  proposals: { owner: 'transfers', readers: ['core-connection'] },
  transfer_policies: { owner: 'transfers', readers: ['core-connection'] },
  transfer_limits: { owner: 'transfers' },
  limit_keys: { owner: 'transfers' },
  limit_counters: { owner: 'transfers' },
  limit_uses: { owner: 'transfers' },
  contribution_limits: { owner: 'transfers' },
  core_instructions: { owner: 'transfers', readers: ['core-connection'] },
  core_connections: { owner: 'core-connection' },
  // An import reads the payments since the moment of its figures. It is the one reader below the owner, beside the stage's.
  loan_payments: { owner: 'transfers', readers: ['accounts'] },

  core_transactions: { owner: 'core-connection' },
  core_authorizations: { owner: 'core-connection' },
  core_breaks: { owner: 'core-connection' },
  core_break_notes: { owner: 'core-connection' },
  core_comparisons: { owner: 'core-connection' },
  staged_core_balances: { owner: 'core-connection' },
  staged_core_postings: { owner: 'core-connection' },
};
