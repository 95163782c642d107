// Made from the service's OpenAPI document: npm run client. Not to be edited.

export interface Schemas {
  AddPasskeyRequest: {
    name: string;
    credential: Schemas["RegisteredCredential"];
  };
  AddedPasskey: {
    passkey: Schemas["PasskeyRecord"];
    recovery_codes: string[] | null;
  };
  AgentEncryption: {
    recipients: string[];
    recovery_kit: {
      recipient: string;
      made_at: string;
      tested_at: string | null;
    } | null;
  };
  AgentEventKind: "backup_failed" | "restore_failed" | "attestation_failed" | "change_accepted" | "draw_declared" | "config_changed";
  AgentKeyRecord: {
    agent_id: string;
    public_key: string;
    key_fingerprint: string;
    valid_from: string;
    valid_until: string | null;
    rotation: Schemas["RotateAgentKeyRequest"] | null;
  };
  AgentOverview: {
    id: string;
    name: string;
    hostname: string;
    last_seen_at: string | null;
    is_silent: boolean;
    is_running: boolean;
    has_recovery_kit: boolean | null;
    spool: Schemas["AgentSpool"] | null;
  };
  AgentRecord: {
    id: string;
    created_at: string;
    org_id: string;
    name: string;
    hostname: string;
    platform: string;
    agent_version: string;
    public_key: string;
    key_fingerprint: string;
    status: "active" | "revoked";
    last_seen_at: string | null;
    revoked_at: string | null;
    spool: Schemas["AgentSpool"] | null;
    encryption: Schemas["AgentEncryption"] | null;
    remote_config: boolean;
  };
  AgentSpool: {
    backups: number;
    receipts: number;
    events: number;
  };
  ApiLogActorKind: "agent" | "user" | "operator" | "auditor_link" | "auth_key" | "anonymous" | "console";
  ApiLogRecord: {
    id: string;
    created_at: string;
    org_id: string;
    actor: {
      kind: Schemas["ApiLogActorKind"];
      id: string | null;
    };
    impersonator?: {
      kind: "operator";
      id: string;
    };
    method: string;
    route: string;
    path: string;
    status: number;
    duration_ms: number;
    address: string;
    user_agent: string | null;
    request_id: string;
    idempotency_key?: string;
  };
  AssertedCredential: {
    id: string;
    rawId: string;
    type: "public-key";
    response: {
      clientDataJSON: string;
      authenticatorData: string;
      signature: string;
      userHandle?: string | null;
      [name: string]: unknown;
    };
    [name: string]: unknown;
  };
  AttachPending: {
    status: "pending";
  };
  AttachRequest: {
    name: string;
    public_key: string;
    hostname: string;
    platform: string;
    agent_version: string;
  };
  Attached: {
    agent_id: string;
    org_id: string;
    api_token: string;
    log: Schemas["LogIdentity"];
    heartbeat_interval_s: number;
  };
  AuditorLinkCreated: {
    id: string;
    created_at: string;
    org_id: string;
    name: string;
    from: string;
    to: string;
    expires_at: string;
    created_by: string;
    openings: number;
    last_opened_at: string | null;
    revoked_at: string | null;
    url: string;
  };
  AuditorLinkOpened: {
    session_token: string;
    expires_at: string;
    org_id: string;
    auditor_link: Schemas["AuditorLinkView"];
  };
  AuditorLinkRecord: {
    id: string;
    created_at: string;
    org_id: string;
    name: string;
    from: string;
    to: string;
    expires_at: string;
    created_by: string;
    openings: number;
    last_opened_at: string | null;
    revoked_at: string | null;
  };
  AuditorLinkView: {
    id: string;
    name: string;
    from: string;
    to: string;
    expires_at: string;
  };
  AuthKeyMinted: {
    id: string;
    created_at: string;
    org_id: string;
    name: string | null;
    created_by: string;
    expires_at: string;
    last_used_at: string | null;
    max_uses: number | null;
    uses: number;
    wrong_attempts: number;
    revoked_at: string | null;
    auth_key: string;
    install_command: string;
  };
  AuthKeyRecord: {
    id: string;
    created_at: string;
    org_id: string;
    name: string | null;
    created_by: string;
    expires_at: string;
    last_used_at: string | null;
    max_uses: number | null;
    uses: number;
    wrong_attempts: number;
    revoked_at: string | null;
  };
  BackupRecord: {
    id: string;
    created_at: string;
    org_id: string;
    source_id: string;
    agent_id: string;
    sha256: string;
    size_bytes: number;
    cipher: Schemas["Cipher"];
    source_metadata: Schemas["SourceMetadata"];
    status: "available" | "expired";
    proven_at: string | null;
    failed_at?: string;
    failed_receipt_id?: string;
    suspicious_at?: string;
    last_clean?: true;
    expires_at: string | null;
    kept_at?: string;
  };
  BootstrapRecord: {
    id: string;
    created_at: string;
    name: string;
    hostname: string;
    platform: string;
    agent_version: string;
    address: string;
    public_key: string;
    key_fingerprint: string;
    status: "pending" | "approved" | "denied";
    expires_at: string;
    decided_at: string | null;
    decided_by: string | null;
    agent_id: string | null;
  };
  BootstrapStarted: {
    code: string;
    poll_token: string;
    attach_url: string;
    expires_at: string;
    interval_s: number;
  };
  ChangeChannelRequest: {
    name?: string | null;
    types?: Schemas["SubscribableType"][] | null;
    status?: "active" | "disabled";
    url?: string;
    weekly_evidence?: boolean;
  };
  ChangeOrgRequest: {
    name?: string;
    public_log?: boolean;
  };
  ChangeQuotasRequest: {
    bytes?: number | null | "default";
    objects?: number | null | "default";
    agents?: number | null | "default";
    requests?: number | null | "default";
  };
  ChangeUserRequest: {
    role?: "owner" | "admin" | "auditor";
    name?: string | null;
  };
  ChannelRecord: {
    id: string;
    created_at: string;
    org_id: string;
    kind: "email" | "webhook";
    name: string | null;
    status: "active" | "disabled";
    disabled_reason: "by_user" | "receiver_gone" | "user_removed" | null;
    user_id: string | null;
    email: string | null;
    url: string | null;
    types: Schemas["SubscribableType"][] | null;
    weekly_evidence: boolean;
    last_delivered_at: string | null;
    last_failed_at: string | null;
  };
  ChannelWithSecret: {
    id: string;
    created_at: string;
    org_id: string;
    kind: "email" | "webhook";
    name: string | null;
    status: "active" | "disabled";
    disabled_reason: "by_user" | "receiver_gone" | "user_removed" | null;
    user_id: string | null;
    email: string | null;
    url: string | null;
    types: Schemas["SubscribableType"][] | null;
    weekly_evidence: boolean;
    last_delivered_at: string | null;
    last_failed_at: string | null;
    secret: string | null;
  };
  CheckOutcome: {
    id: string;
    definition_sha256: string;
    observed: {
      [name: string]: unknown;
    };
    expectation: string;
    result: Schemas["ReceiptResult"];
    duration_ms: number;
    negative_control?: Schemas["NegativeControl"];
  };
  Cipher: {
    name: "age-v1";
    recipients: string[];
  };
  CodeSent: {
    status: "code_sent";
    expires_in_s: number;
  };
  CommandKind: "backup" | "restore_test";
  CommandNotice: {
    queued: boolean;
  };
  CommandProgress: {
    phase: string;
    bytes: number;
    checks?: number;
    total_bytes?: number;
    phase_ms: number;
    ended?: {
      phase: string;
      bytes: number;
      checks?: number;
      took_ms: number;
    }[];
    at: string;
  };
  CommandRecord: {
    id: string;
    created_at: string;
    org_id: string;
    kind: Schemas["CommandKind"];
    source_id: string;
    agent_id: string;
    status: "queued" | "delivered" | "acked";
    params: {
      backup_id?: string;
    };
    attempts: number;
    issued_by: string;
    delivered_at: string | null;
    acked_at: string | null;
    ended_at: string | null;
    progress?: Schemas["CommandProgress"];
    outcome: {
      backup_id?: string;
      receipt_id?: string;
      event_id?: string;
      result?: Schemas["ReceiptResult"];
    };
  };
  ConfigAnswerAccepted: {
    id: string;
  };
  ConfigRefusal: {
    reason: string;
    message: string;
  };
  ConfigRequestRecord: {
    id: string;
    created_at: string;
    org_id: string;
    agent_id: string;
    asked_by: string;
    status: "queued" | "delivered" | "answered" | "expired";
    request: {
      kind: "discover";
    } | {
      kind: "try_source";
      place: string;
      database: string;
    } | {
      kind: "add_source";
      tried: string;
      name: string;
      checks: string[];
    } | {
      kind: "list_columns";
      source: string;
    } | {
      kind: "try_check";
      source: string;
      measure: Schemas["Measure"];
      table: string;
      column?: string;
      threshold: number;
    } | {
      kind: "add_check";
      tried: string;
      name: string;
    };
    expires_at: string;
    answered_at: string | null;
    result: {
      kind: "discover";
      user?: string;
      servers: Schemas["FoundServer"][];
    } | {
      kind: "try_source";
      source: Schemas["TriedSource"];
    } | {
      kind: "add_source";
      added: string;
      source_id?: string;
    } | {
      kind: "list_columns";
      tables: Schemas["ListedTable"][];
      is_cut: boolean;
    } | {
      kind: "try_check";
      check: Schemas["TriedCheck"];
    } | {
      kind: "add_check";
      source: string;
      added: string;
    } | null;
    refusal: Schemas["ConfigRefusal"] | null;
  };
  ConfigureSourceRequest: {
    name?: string;
    agent_id?: string;
    test_agent_id?: string | null;
    schedule?: {
      backup_cron?: string | null;
      restore_test_cron?: string | null;
      timezone?: string;
    } | null;
    retention?: Schemas["Retention"] | null;
    objectives?: Schemas["Objectives"] | null;
  };
  ConsistencyProof: {
    from: number;
    to: number;
    hashes: string[];
  };
  CreateAuditorLinkRequest: {
    name: string;
    from: string;
    to: string;
    expires_in_s?: number;
  };
  CreateOrgRequest: {
    name: string;
    owner_email?: string;
  };
  CreationOptions: {
    rp: {
      id: string;
      name: string;
    };
    user: {
      id: string;
      name: string;
      displayName: string;
    };
    challenge: string;
    pubKeyCredParams: {
      type: "public-key";
      alg: number;
    }[];
    timeout: number;
    excludeCredentials: {
      type: "public-key";
      id: string;
      transports?: string[];
    }[];
    authenticatorSelection: {
      residentKey: "required";
      requireResidentKey: true;
      userVerification: "required";
    };
    attestation: "none";
  };
  DeclaredSource: {
    slug: string;
    engine: string;
    name?: string;
    tags?: string[];
    environment?: string;
  };
  DeliveredCommand: {
    id: string;
    kind: Schemas["CommandKind"];
    source: {
      id: string;
      slug: string;
      engine: string;
    };
    params: {
      backup_id?: string;
    };
    issued_at: string;
    attempt: number;
  };
  DeliveredConfigRequest: {
    id: string;
    asked_by: string;
    request: {
      kind: "discover";
    } | {
      kind: "try_source";
      place: string;
      database: string;
    } | {
      kind: "add_source";
      tried: string;
      name: string;
      checks: string[];
    } | {
      kind: "list_columns";
      source: string;
    } | {
      kind: "try_check";
      source: string;
      measure: Schemas["Measure"];
      table: string;
      column?: string;
      threshold: number;
    } | {
      kind: "add_check";
      tried: string;
      name: string;
    };
  };
  DeliveryAttempt: {
    attempt: number;
    at: string;
    duration_ms: number;
    outcome: "delivered" | "http_status" | "redirect" | "timeout" | "unreachable" | "tls" | "address_not_allowed" | "mail_refused" | "answer_too_large" | "internal";
    http_status: number | null;
    message: string;
  };
  DeliveryDetail: {
    id: string;
    created_at: string;
    org_id: string;
    channel_id: string;
    notification_id: string;
    type: Schemas["NotificationType"];
    subject: {
      kind: "source";
      id: string;
      name: string;
    } | {
      kind: "agent";
      id: string;
      name: string;
    } | null;
    occurred_at: string;
    status: Schemas["DeliveryStatus"];
    attempts: number;
    next_attempt_at: string | null;
    finished_at: string | null;
    tried: Schemas["DeliveryAttempt"][];
    data: {
      [name: string]: unknown;
    };
  };
  DeliveryQueued: {
    delivery_id: string;
  };
  DeliveryRecord: {
    id: string;
    created_at: string;
    org_id: string;
    channel_id: string;
    notification_id: string;
    type: Schemas["NotificationType"];
    subject: {
      kind: "source";
      id: string;
      name: string;
    } | {
      kind: "agent";
      id: string;
      name: string;
    } | null;
    occurred_at: string;
    status: Schemas["DeliveryStatus"];
    attempts: number;
    next_attempt_at: string | null;
    finished_at: string | null;
  };
  DeliveryStatus: "pending" | "delivered" | "failed" | "cancelled";
  DownloadUrl: {
    download_url: string;
    expires_at: string;
    backup?: Schemas["DownloadedBackup"];
  };
  DownloadedBackup: {
    id: string;
    source_id: string;
    sha256: string;
    size_bytes: number;
    cipher: Schemas["Cipher"];
    source_metadata: Schemas["SourceMetadata"];
  };
  DriftIndicator: {
    kind: "schema" | "environment";
    field: string;
    before: unknown;
    after: unknown;
    since: string;
    backup_id: string;
    previous_backup_id?: string;
    changes?: {
      added: string[];
      removed: string[];
      altered: string[];
    };
  };
  Envelope: {
    payloadType: string;
    payload: string;
    signatures: {
      keyid?: string;
      sig: string;
    }[];
  };
  EnvelopeRequest: {
    payloadType: string;
    payload: string;
    signatures: {
      keyid?: string;
      sig: string;
    }[];
  };
  ErrorBody: {
    error: string;
    message: string;
    request_id: string;
    details: {
      [name: string]: unknown;
    };
  };
  EventAccepted: {
    event_id: string;
    log_index: number;
    leaf: Schemas["Leaf"];
    leaf_hash: string;
    log_id: string;
    inclusion_proof: Schemas["InclusionProof"];
    checkpoint: string;
  };
  EventActor: {
    kind: "agent" | "user" | "auth_key" | "auditor_link" | "service";
    id: string;
  };
  EventRecord: {
    id: string;
    created_at: string;
    org_id: string;
    kind: string;
    source_id?: string;
    backup_id?: string;
    command_id?: string;
    actor: Schemas["EventActor"];
    occurred_at: string;
    detail: {
      [name: string]: unknown;
    };
    log_index: number;
    leaf_hash: string;
    envelope?: Schemas["EnvelopeRequest"];
  };
  EventRequest: {
    kind: Schemas["AgentEventKind"];
    source_id?: string;
    backup_id?: string;
    command_id?: string;
    occurred_at: string;
    detail: {
      [name: string]: unknown;
    };
    envelope?: Schemas["EnvelopeRequest"];
  };
  FoundServer: {
    place: string;
    engine: string;
    label: string;
    state: "ready" | "refused" | "no_client";
    problem?: string;
    databases: {
      name: string;
      source?: string;
    }[];
  };
  HeartbeatRequest: {
    agent_version: string;
    hostname: string;
    platform: string;
    uptime_s: number;
    sources: Schemas["DeclaredSource"][];
    acks: Schemas["TriggerAccepted"][];
    log_head?: string;
    cosignature?: string;
    spool?: Schemas["AgentSpool"];
    encryption?: Schemas["AgentEncryption"];
    remote_config?: true;
  };
  HeartbeatResponse: {
    server_time: string;
    next_interval_s: number;
    commands: Schemas["DeliveredCommand"][];
    log_head: string;
    sources?: Schemas["RegisteredSource"][];
    config_requests?: Schemas["DeliveredConfigRequest"][];
  };
  ImpersonateRequest: {
    user_id: string;
    reason: string;
  };
  IncidentRecord: {
    id: string;
    org_id: string;
    kind: "backup_missed" | "restore_test_missed" | "agent_silent";
    source_id: string | null;
    agent_id: string | null;
    began_at: string;
    ended_at: string | null;
  };
  InclusionProof: {
    log_index: number;
    tree_size: number;
    hashes: string[];
  };
  InvitationDeclined: {
    status: "declined";
  };
  InvitationRecord: {
    id: string;
    created_at: string;
    expires_at: string;
    org_id: string;
    org_name: string;
    role: "owner" | "admin" | "auditor";
  };
  InviteUserRequest: {
    email: string;
    role: "owner" | "admin" | "auditor";
    name?: string;
  };
  KeptBackups: {
    backup_ids: string[];
    next_cursor: string | null;
  };
  Leaf: {
    v: 1;
    kind: string;
    org_id: string;
    id: string;
    actor_id: string;
    recorded_at: string;
    body_sha256: string;
    signature?: string;
  };
  LeftOrg: {
    status: "left";
  };
  ListedTable: {
    name: string;
    columns: ({
      name: string;
      kind: "time" | "other";
    })[];
  };
  LogGenerations: {
    began: Schemas["ServiceEvent"][];
    lost: Schemas["ServiceEvent"][];
  };
  LogHead: {
    log_id: string;
    tree_size: number;
    root_hash: string;
    timestamp: string;
    checkpoint: string;
  };
  LogIdentity: {
    origin: string;
    verifier_key: string;
  };
  LogKeys: {
    log_id: string;
    verifier_key: string;
    time_verifier_key: string;
    public_log: boolean;
    read_only: boolean;
    handed_in_again: {
      generation: number;
      receipts: number;
      events: number;
    }[];
  };
  LogProof: {
    inclusion: Schemas["InclusionProof"];
    consistency: Schemas["ConsistencyProof"] | null;
    checkpoint: string;
  };
  LoginRequest: {
    email: string;
    attempt?: string;
  };
  MadeRecoveryCodes: {
    recovery_codes: string[];
  };
  MakersReceipt: {
    receipt: Schemas["ReceiptBundle"];
    rotations: Schemas["RotateAgentKeyRequest"][];
  };
  Me: {
    user: {
      id: string;
      created_at: string;
      org_id?: string;
      email: string;
      name?: string;
      role: "owner" | "admin" | "auditor" | "operator" | "reader";
      status: "active" | "pending";
      invitation_expires_at?: string;
    };
    org: Schemas["OrgRecord"] | null;
    impersonated_by: Schemas["UserRecord"] | null;
    auditor_link: Schemas["AuditorLinkView"] | null;
    passkey_required: boolean;
  };
  Measure: "rows" | "distinct" | "filled" | "newest";
  MintAuthKeyRequest: {
    name?: string;
    expires_in_s?: number;
    max_uses?: number;
  };
  NegativeControl: {
    at: string;
    noticed: string[];
    not_noticed: string[];
    not_tried: string[];
  };
  NextStep: {
    kind: "attach_agent" | "declare_source" | "run_agent" | "look_into_failure" | "make_backup" | "test_restore" | "write_check" | "set_schedule" | "set_objectives" | "make_recovery_kit" | "test_recovery_kit";
    source_id?: string;
    agent_id?: string;
  };
  NotificationType: "backup.failed" | "backup.missed" | "backup.recovered" | "restore_test.failed" | "restore_test.could_not_run" | "restore_test.missed" | "restore_test.recovered" | "restore_test.suspicious" | "agent.silent" | "agent.recovered" | "agent.attached" | "attestation.failed" | "attestation.recovered" | "drift.detected" | "retention.announced" | "retention.held" | "quota.reached" | "incident.ended" | "notification.test" | "evidence.weekly";
  Objectives: {
    rpo_s?: number;
    rto_s?: number;
  };
  OpenAuditorLinkRequest: {
    secret: string;
  };
  OrgRecord: {
    id: string;
    created_at: string;
    name: string;
    slug: string;
    public_log: boolean;
  };
  Overview: {
    now: string;
    first_day: string;
    sources: Schemas["SourceOverview"][];
    agents: Schemas["AgentOverview"][];
    log: {
      tree_size: number;
      grown_at: string;
      head_signed_at: string | null;
      is_late: boolean;
      is_read_only: boolean;
    };
    incidents: Schemas["IncidentRecord"][];
    next_steps: Schemas["NextStep"][];
  };
  PasskeyList: {
    items: Schemas["PasskeyRecord"][];
    recovery_codes_left: number;
  };
  PasskeyOptionsRequest: {
    attempt: string;
  };
  PasskeyRecord: {
    id: string;
    created_at: string;
    name: string;
    last_used_at: string | null;
    synced: boolean;
  };
  PasskeyVerifyRequest: {
    attempt: string;
    credential: Schemas["AssertedCredential"];
  };
  ProgressAccepted: {
    next_s: number;
  };
  ProgressReport: {
    phase: string;
    bytes: number;
    checks?: number;
    total_bytes?: number;
    phase_ms: number;
    ended?: {
      phase: string;
      bytes: number;
      checks?: number;
      took_ms: number;
    }[];
  };
  QuotasRecord: {
    org_id: string;
    bytes: {
      used: number;
      limit: number | null;
      default: number | null;
    };
    objects: {
      used: number;
      limit: number | null;
      default: number | null;
    };
    agents: {
      used: number;
      limit: number | null;
      default: number | null;
    };
    requests: {
      limit: number | null;
      default: number | null;
      window_s: number;
    };
  };
  ReceiptAccepted: {
    receipt_id: string;
    log_index: number;
    leaf: Schemas["Leaf"];
    leaf_hash: string;
    log_id: string;
    inclusion_proof: Schemas["InclusionProof"];
    checkpoint: string;
  };
  ReceiptBundle: {
    envelope: Schemas["Envelope"];
    public_key: string;
    leaf: Schemas["Leaf"];
    inclusion_proof: Schemas["InclusionProof"];
    checkpoint: string;
    log: Schemas["LogIdentity"];
    generations?: Schemas["ServiceEvent"][];
  };
  ReceiptDetail: {
    id: string;
    created_at: string;
    org_id: string;
    kind: Schemas["CommandKind"];
    source_id: string;
    agent_id: string;
    backup_id: string;
    result: Schemas["ReceiptResult"] | null;
    log_index: number;
    leaf_hash: string;
    envelope: Schemas["Envelope"];
  };
  ReceiptRecord: {
    id: string;
    created_at: string;
    org_id: string;
    kind: Schemas["CommandKind"];
    source_id: string;
    agent_id: string;
    backup_id: string;
    result: Schemas["ReceiptResult"] | null;
    log_index: number;
    leaf_hash: string;
  };
  ReceiptResult: "passed" | "failed";
  RegisterBackupRequest: {
    upload_id: string;
    source_id: string;
    created_at: string;
    cipher: Schemas["Cipher"];
    source_metadata: Schemas["SourceMetadata"];
    command_id?: string;
    sha256?: string;
    size_bytes?: number;
    parts?: {
      part_number: number;
      etag: string;
    }[];
  };
  RegisterSourceRequest: {
    slug: string;
    engine: string;
    agent_id: string;
    name?: string;
    test_agent_id?: string | null;
  };
  RegisteredCredential: {
    id: string;
    rawId: string;
    type: "public-key";
    response: {
      clientDataJSON: string;
      attestationObject: string;
      transports?: string[];
      [name: string]: unknown;
    };
    [name: string]: unknown;
  };
  RegisteredSource: {
    id: string;
    slug: string;
    agent_id?: string;
  };
  RenameAgentRequest: {
    name: string;
  };
  RenamePasskeyRequest: {
    name: string;
  };
  RequestOptions: {
    challenge: string;
    timeout: number;
    rpId: string;
    userVerification: "required";
  };
  RestoreTestRecord: {
    receipt_id: string;
    created_at: string;
    agent_id: string;
    backup_id: string;
    started_at: string;
    finished_at: string;
    result: Schemas["ReceiptResult"];
    reason?: string;
    runtime: {
      kind: string;
      engine: string;
      engine_version: string;
      image_digest?: string;
      isolation?: string;
    };
    phases?: {
      download_ms: number;
      decrypt_ms: number;
      restore_ms: number;
      checks_ms: number;
    };
    checks: Schemas["CheckOutcome"][];
  };
  Retention: {
    keep_last?: number;
    keep_days?: number;
    keep_daily?: number;
    keep_weekly?: number;
    keep_monthly?: number;
    keep_yearly?: number;
  };
  RetentionDecision: {
    backup_id: string;
    created_at: string;
    size_bytes: number;
    proven_at: string | null;
    keep: boolean;
    reasons: Schemas["RetentionReason"][];
    expires_at: string | null;
  };
  RetentionPreview: {
    retention: Schemas["Retention"] | null;
    timezone: string;
    keep_count: number;
    remove_count: number;
    remove_bytes: number;
    held: {
      since: string;
      hold: {
        reason: "count_rose";
        last_day: number;
        usual_a_day: number;
      } | {
        reason: "size_fell";
        newest_bytes: number;
        removed_bytes: number;
      };
    } | null;
    items: Schemas["RetentionDecision"][];
    next_cursor: string | null;
  };
  RetentionReason: {
    rule: "keep_last" | "keep_days" | "keep_daily" | "keep_weekly" | "keep_monthly" | "keep_yearly" | "no_rule" | "newest_proven" | "newest_clean" | "running_command" | "kept";
    period?: string;
  };
  RotateAgentKeyRequest: {
    by_old: Schemas["EnvelopeRequest"];
    by_new: Schemas["EnvelopeRequest"];
  };
  Schedule: {
    backup_cron: string | null;
    restore_test_cron: string | null;
    timezone: string;
  };
  SchedulePreview: {
    timezone: string;
    backup: {
      next: Schemas["ScheduledTime"][];
      at_clock_changes: Schemas["ScheduledTime"][];
    } | null;
    restore_test: {
      next: Schemas["ScheduledTime"][];
      at_clock_changes: Schemas["ScheduledTime"][];
    } | null;
  };
  ScheduledTime: {
    at: string;
    clock_change: "shifted" | "first_of_two" | null;
  };
  ServiceEvent: {
    event: {
      kind: string;
      occurred_at: string;
      detail: {
        [name: string]: unknown;
      };
    };
    leaf: Schemas["Leaf"];
    inclusion_proof: Schemas["InclusionProof"];
    checkpoint: string;
    log: Schemas["LogIdentity"];
  };
  SessionStarted: {
    session_token: string;
    expires_at: string;
    user: Schemas["UserRecord"];
    org: Schemas["OrgRecord"] | null;
  };
  SignedOut: {
    status: "signed_out";
  };
  SignupRequest: {
    email: string;
    org_name: string;
    attempt?: string;
  };
  SignupState: {
    open: boolean;
    codes: "mail" | "console";
  };
  SignupVerifyRequest: {
    email: string;
    code: string;
    attempt?: string;
  };
  SourceConcern: "restore_test_failed" | "restore_could_not_run" | "backup_failed" | "attestation_failed" | "backup_missed" | "restore_test_missed" | "rpo_exceeded" | "rto_exceeded" | "never_backed_up" | "never_proven" | "proof_too_old" | "newest_not_proven" | "agent_silent" | "agent_revoked" | "schema_drift" | "environment_drift";
  SourceDetail: {
    id: string;
    created_at: string;
    org_id: string;
    slug: string;
    name: string;
    engine: string;
    agent_id: string;
    test_agent_id: string | null;
    tags: string[];
    environment: string | null;
    schedule: Schemas["Schedule"] | null;
    retention: Schemas["Retention"] | null;
    objectives: Schemas["Objectives"] | null;
    last_backup_at: string | null;
    last_proven_at: string | null;
    proven: boolean;
    not_proven_because: "never_backed_up" | "restore_test_failed" | "never_proven" | "proof_too_old" | "newest_not_proven" | null;
    next_backup_at: string | null;
    next_restore_test_at: string | null;
    incidents: Schemas["IncidentRecord"][];
    coverage?: Schemas["TestCoverage"];
  };
  SourceMetadata: {
    engine: string;
    engine_version: string;
    dump_format: string;
    schema_hash: string;
    [name: string]: unknown;
  };
  SourceOverview: {
    id: string;
    slug: string;
    name: string;
    engine: string;
    agent_id: string;
    tags: string[];
    environment: string | null;
    state: Schemas["SourceState"];
    concerns: Schemas["SourceConcern"][];
    last_backup_at: string | null;
    last_proven_at: string | null;
    proven: boolean;
    not_proven_because: "never_backed_up" | "restore_test_failed" | "never_proven" | "proof_too_old" | "newest_not_proven" | null;
    failed_at: string | null;
    objectives: Schemas["Objectives"] | null;
    rpo_met: boolean | null;
    rto_met: boolean | null;
    next_backup_at: string | null;
    next_restore_test_at: string | null;
    running: Schemas["CommandKind"][];
    days: string;
    sizes: number[];
    restore_times_ms: number[];
  };
  SourceRecord: {
    id: string;
    created_at: string;
    org_id: string;
    slug: string;
    name: string;
    engine: string;
    agent_id: string;
    test_agent_id: string | null;
    tags: string[];
    environment: string | null;
    schedule: Schemas["Schedule"] | null;
    retention: Schemas["Retention"] | null;
    objectives: Schemas["Objectives"] | null;
    last_backup_at: string | null;
    last_proven_at: string | null;
    proven: boolean;
    not_proven_because: "never_backed_up" | "restore_test_failed" | "never_proven" | "proof_too_old" | "newest_not_proven" | null;
    next_backup_at: string | null;
    next_restore_test_at: string | null;
  };
  SourceState: "failed" | "missed" | "none" | "backed_up" | "proven";
  SubscribableType: "backup.failed" | "backup.missed" | "backup.recovered" | "restore_test.failed" | "restore_test.could_not_run" | "restore_test.missed" | "restore_test.recovered" | "restore_test.suspicious" | "agent.silent" | "agent.recovered" | "agent.attached" | "attestation.failed" | "attestation.recovered" | "drift.detected" | "retention.announced" | "retention.held" | "quota.reached" | "incident.ended";
  SwitchRequest: {
    org_id: string;
  };
  TestCoverage: {
    older_than_30_days: number;
    tested_within_90_days: number;
  };
  TimelineTopic: "backups" | "restore_tests" | "trouble" | "commands";
  TriedCheck: {
    query: string;
    expect: string;
    backup_id: string;
    held: boolean;
    value: number | string | null;
    problem?: string;
    duration_ms: number;
    noticed: string[];
    not_noticed: string[];
    not_tried: string[];
  };
  TriedSource: {
    engine: string;
    version: string;
    tables: number | null;
    checks: {
      id: string;
      query: string;
      expect: string;
    }[];
    not_proposed: {
      id: string;
      why: string;
    }[];
  };
  TriggerAccepted: {
    command_id: string;
  };
  TriggerRequest: {
    kind: Schemas["CommandKind"];
    backup_id?: string;
  };
  UploadPart: {
    part_number: number;
    upload_url: string;
    size_bytes: number;
  };
  UploadUrl: {
    upload_id: string;
    object_key: string;
    upload_url: string;
    method: "PUT";
    headers: {
      [name: string]: string;
    };
    expires_at: string;
    parts?: Schemas["UploadPart"][];
  };
  UploadUrlRequest: {
    source_id: string;
    sha256: string;
    size_bytes: number;
    upload_id?: string;
  };
  UserRecord: {
    id: string;
    created_at: string;
    org_id?: string;
    email: string;
    name?: string;
    role: "owner" | "admin" | "auditor" | "operator";
    status: "active" | "pending";
    invitation_expires_at?: string;
  };
  VerifyRequest: {
    email: string;
    code: string;
    attempt?: string;
    recovery_code?: string;
  };
  WitnessRecord: {
    agent_id: string;
    name: string;
    verifier_key: string;
    tree_size: number;
    checkpoint: string;
    received_at: string;
  };
}

/** By path and method: what a call takes, and the body of each answer by status. */
export interface Paths {
  "/api/auth/signup": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["SignupState"] };
    };
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["SignupRequest"];
      answers: { 202: Schemas["CodeSent"] };
    };
  };
  "/api/auth/signup/verify": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["SignupVerifyRequest"];
      answers: { 200: Schemas["SessionStarted"] };
    };
  };
  "/api/auth/login": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["LoginRequest"];
      answers: { 202: Schemas["CodeSent"] };
    };
  };
  "/api/auth/verify": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["VerifyRequest"];
      answers: { 200: Schemas["SessionStarted"] };
    };
  };
  "/api/auth/me": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["Me"] };
    };
  };
  "/api/auth/logout": {
    post: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["SignedOut"] };
    };
  };
  "/api/auth/passkey/options": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["PasskeyOptionsRequest"];
      answers: { 200: Schemas["RequestOptions"] };
    };
  };
  "/api/auth/passkey/verify": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["PasskeyVerifyRequest"];
      answers: { 200: Schemas["SessionStarted"] };
    };
  };
  "/api/auth/passkeys": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["PasskeyList"] };
    };
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["AddPasskeyRequest"];
      answers: { 201: Schemas["AddedPasskey"] };
    };
  };
  "/api/auth/passkeys/options": {
    post: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["CreationOptions"] };
    };
  };
  "/api/auth/passkeys/{passkeyID}": {
    patch: {
      path: { passkeyID: string };
      query: undefined;
      body: Schemas["RenamePasskeyRequest"];
      answers: { 200: Schemas["PasskeyRecord"] };
    };
    delete: {
      path: { passkeyID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["PasskeyRecord"] };
    };
  };
  "/api/auth/recovery-codes": {
    post: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 201: Schemas["MadeRecoveryCodes"] };
    };
  };
  "/api/auth/impersonate": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["ImpersonateRequest"];
      answers: { 200: Schemas["SessionStarted"] };
    };
  };
  "/api/auth/end-impersonate": {
    post: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["SessionStarted"] };
    };
  };
  "/api/orgs": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["CreateOrgRequest"];
      answers: { 201: Schemas["OrgRecord"] };
    };
    get: {
      path: undefined;
      query: { limit?: string; cursor?: string; from?: string; to?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["OrgRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}": {
    get: {
      path: { orgID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["OrgRecord"] };
    };
    patch: {
      path: { orgID: string };
      query: undefined;
      body: Schemas["ChangeOrgRequest"];
      answers: { 200: Schemas["OrgRecord"] };
    };
  };
  "/api/orgs/{orgID}/users": {
    post: {
      path: { orgID: string };
      query: undefined;
      body: Schemas["InviteUserRequest"];
      answers: { 201: Schemas["UserRecord"] };
    };
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["UserRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/users/{userID}": {
    patch: {
      path: { orgID: string; userID: string };
      query: undefined;
      body: Schemas["ChangeUserRequest"];
      answers: { 200: Schemas["UserRecord"] };
    };
    delete: {
      path: { orgID: string; userID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["UserRecord"] };
    };
  };
  "/api/auth/invitations": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: {
        items: Schemas["InvitationRecord"][];
        [name: string]: unknown;
      } };
    };
  };
  "/api/auth/invitations/{userID}/accept": {
    post: {
      path: { userID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["UserRecord"] };
    };
  };
  "/api/auth/invitations/{userID}/decline": {
    post: {
      path: { userID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["InvitationDeclined"] };
    };
  };
  "/api/auth/switch": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["SwitchRequest"];
      answers: { 200: Schemas["SessionStarted"] };
    };
  };
  "/api/orgs/{orgID}/leave": {
    post: {
      path: { orgID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["LeftOrg"] };
    };
  };
  "/api/orgs/{orgID}/agents": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; status?: "active" | "revoked" };
      body: undefined;
      answers: { 200: {
        items: Schemas["AgentRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/agents/{agentID}": {
    get: {
      path: { orgID: string; agentID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["AgentRecord"] };
    };
    patch: {
      path: { orgID: string; agentID: string };
      query: undefined;
      body: Schemas["RenameAgentRequest"];
      answers: { 200: Schemas["AgentRecord"] };
    };
  };
  "/api/orgs/{orgID}/agents/{agentID}/revoke": {
    post: {
      path: { orgID: string; agentID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["AgentRecord"] };
    };
  };
  "/v1/agent/key": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["RotateAgentKeyRequest"];
      answers: { 200: Schemas["AgentKeyRecord"] };
    };
  };
  "/api/orgs/{orgID}/agents/{agentID}/keys": {
    get: {
      path: { orgID: string; agentID: string };
      query: undefined;
      body: undefined;
      answers: { 200: {
        items: Schemas["AgentKeyRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/auth-keys": {
    post: {
      path: { orgID: string };
      query: undefined;
      body: Schemas["MintAuthKeyRequest"];
      answers: { 201: Schemas["AuthKeyMinted"] };
    };
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["AuthKeyRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/auth-keys/{id}/revoke": {
    post: {
      path: { orgID: string; id: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["AuthKeyRecord"] };
    };
  };
  "/api/orgs/{orgID}/auditor-links": {
    post: {
      path: { orgID: string };
      query: undefined;
      body: Schemas["CreateAuditorLinkRequest"];
      answers: { 201: Schemas["AuditorLinkCreated"] };
    };
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["AuditorLinkRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/auditor-links/{id}/revoke": {
    post: {
      path: { orgID: string; id: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["AuditorLinkRecord"] };
    };
  };
  "/api/auditor-links/open": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["OpenAuditorLinkRequest"];
      answers: { 200: Schemas["AuditorLinkOpened"] };
    };
  };
  "/api/orgs/{orgID}/bootstraps/{code}": {
    get: {
      path: { orgID: string; code: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["BootstrapRecord"] };
    };
  };
  "/api/orgs/{orgID}/bootstraps/{code}/approve": {
    post: {
      path: { orgID: string; code: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["BootstrapRecord"] };
    };
  };
  "/api/orgs/{orgID}/bootstraps/{code}/deny": {
    post: {
      path: { orgID: string; code: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["BootstrapRecord"] };
    };
  };
  "/api/bootstrap/attach": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["AttachRequest"];
      answers: { 201: Schemas["Attached"] };
    };
  };
  "/api/bootstrap/start": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["AttachRequest"];
      answers: { 201: Schemas["BootstrapStarted"] };
    };
  };
  "/api/bootstrap/{poll_token}": {
    get: {
      path: { poll_token: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["Attached"]; 202: Schemas["AttachPending"] };
    };
  };
  "/v1/heartbeat": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["HeartbeatRequest"];
      answers: { 200: Schemas["HeartbeatResponse"] };
    };
  };
  "/v1/commands": {
    get: {
      path: undefined;
      query: { wait_s?: string };
      body: undefined;
      answers: { 200: Schemas["CommandNotice"] };
    };
  };
  "/v1/commands/{id}/progress": {
    post: {
      path: { id: string };
      query: undefined;
      body: Schemas["ProgressReport"];
      answers: { 200: Schemas["ProgressAccepted"] };
    };
  };
  "/v1/config-requests/{id}/answer": {
    post: {
      path: { id: string };
      query: undefined;
      body: {
        result: {
          kind: "discover";
          user?: string;
          servers: Schemas["FoundServer"][];
        } | {
          kind: "try_source";
          source: Schemas["TriedSource"];
        } | {
          kind: "add_source";
          added: string;
          source_id?: string;
        } | {
          kind: "list_columns";
          tables: Schemas["ListedTable"][];
          is_cut: boolean;
        } | {
          kind: "try_check";
          check: Schemas["TriedCheck"];
        } | {
          kind: "add_check";
          source: string;
          added: string;
        };
      } | {
        refusal: Schemas["ConfigRefusal"];
      };
      answers: { 200: Schemas["ConfigAnswerAccepted"] };
    };
  };
  "/v1/backups/upload-url": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["UploadUrlRequest"];
      answers: { 200: Schemas["UploadUrl"]; 201: Schemas["UploadUrl"] };
    };
  };
  "/v1/backups": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["RegisterBackupRequest"];
      answers: { 201: Schemas["BackupRecord"] };
    };
  };
  "/v1/backups/{id}/download-url": {
    post: {
      path: { id: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["DownloadUrl"] };
    };
  };
  "/v1/sources/{id}/backups": {
    get: {
      path: { id: string };
      query: { cursor?: string };
      body: undefined;
      answers: { 200: Schemas["KeptBackups"] };
    };
  };
  "/api/orgs/{orgID}/quotas": {
    get: {
      path: { orgID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["QuotasRecord"] };
    };
    patch: {
      path: { orgID: string };
      query: undefined;
      body: Schemas["ChangeQuotasRequest"];
      answers: { 200: Schemas["QuotasRecord"] };
    };
  };
  "/v1/receipts": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["EnvelopeRequest"];
      answers: { 201: Schemas["ReceiptAccepted"] };
    };
  };
  "/v1/events": {
    post: {
      path: undefined;
      query: undefined;
      body: Schemas["EventRequest"];
      answers: { 201: Schemas["EventAccepted"] };
    };
  };
  "/v1/log/head": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["LogHead"] };
    };
  };
  "/v1/log/generations": {
    get: {
      path: undefined;
      query: { tree_size?: string };
      body: undefined;
      answers: { 200: Schemas["LogGenerations"] };
    };
  };
  "/v1/log/proof": {
    get: {
      path: undefined;
      query: { leaf: string; tree_size: string; from?: string };
      body: undefined;
      answers: { 200: Schemas["LogProof"] };
    };
  };
  "/v1/backups/{id}/receipt": {
    get: {
      path: { id: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["MakersReceipt"] };
    };
  };
  "/api/orgs/{orgID}/receipts": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; source_id?: string; agent_id?: string; backup_id?: string; kind?: Schemas["CommandKind"]; result?: Schemas["ReceiptResult"] };
      body: undefined;
      answers: { 200: {
        items: Schemas["ReceiptRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/receipts/{receiptID}": {
    get: {
      path: { receiptID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["ReceiptDetail"] };
    };
  };
  "/api/receipts/{receiptID}/bundle": {
    get: {
      path: { receiptID: string };
      query: { format?: "sigstore" | "tlog-proof" };
      body: undefined;
      answers: { 200: Schemas["ReceiptBundle"] };
    };
  };
  "/api/orgs/{orgID}/backups": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; source_id?: string; agent_id?: string; status?: "available" | "expired" };
      body: undefined;
      answers: { 200: {
        items: Schemas["BackupRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/backups/{backupID}": {
    get: {
      path: { backupID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["BackupRecord"] };
    };
  };
  "/api/orgs/{orgID}/backups/{backupID}/download-url": {
    post: {
      path: { orgID: string; backupID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["DownloadUrl"] };
    };
  };
  "/api/orgs/{orgID}/events": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; source_id?: string; agent_id?: string; kind?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["EventRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/events/{eventID}": {
    get: {
      path: { eventID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["EventRecord"] };
    };
  };
  "/api/orgs/{orgID}/evidence": {
    get: {
      path: { orgID: string };
      query: { from?: string; to?: string };
      body: undefined;
      answers: { 200: string };
    };
  };
  "/api/orgs/{orgID}/log": {
    get: {
      path: { orgID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["LogKeys"] };
    };
  };
  "/api/orgs/{orgID}/log/witnesses": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["WitnessRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/log/head": {
    get: {
      path: { orgID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["LogHead"] };
    };
  };
  "/api/orgs/{orgID}/log/generations": {
    get: {
      path: { orgID: string };
      query: { tree_size?: string };
      body: undefined;
      answers: { 200: Schemas["LogGenerations"] };
    };
  };
  "/api/orgs/{orgID}/log/proof": {
    get: {
      path: { orgID: string };
      query: { leaf: string; tree_size: string; from?: string };
      body: undefined;
      answers: { 200: Schemas["LogProof"] };
    };
  };
  "/api/orgs/{orgID}/api-logs": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; actor_id?: string; agent_id?: string; method?: "GET" | "POST" | "PATCH" | "DELETE" | "PUT" | "RUN"; kind?: Schemas["ApiLogActorKind"]; status?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["ApiLogRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/api-logs/{logID}": {
    get: {
      path: { logID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["ApiLogRecord"] };
    };
  };
  "/api/orgs/{orgID}/sources": {
    post: {
      path: { orgID: string };
      query: undefined;
      body: Schemas["RegisterSourceRequest"];
      answers: { 201: Schemas["SourceRecord"] };
    };
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; agent_id?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["SourceRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}": {
    get: {
      path: { orgID: string; sourceID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["SourceDetail"] };
    };
    delete: {
      path: { orgID: string; sourceID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["SourceRecord"] };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/configure": {
    post: {
      path: { orgID: string; sourceID: string };
      query: undefined;
      body: Schemas["ConfigureSourceRequest"];
      answers: { 200: Schemas["SourceRecord"] };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/trigger": {
    post: {
      path: { orgID: string; sourceID: string };
      query: undefined;
      body: Schemas["TriggerRequest"];
      answers: { 202: Schemas["TriggerAccepted"] };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/timeline": {
    get: {
      path: { orgID: string; sourceID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; topic?: Schemas["TimelineTopic"] };
      body: undefined;
      answers: { 200: {
        items: ({
          type: "event";
          at: string;
          event: Schemas["EventRecord"];
          incident: {
            ended_at: string | null;
          } | null;
        } | {
          type: "receipt";
          at: string;
          receipt: Schemas["ReceiptRecord"];
        } | {
          type: "backup";
          at: string;
          backup: Schemas["BackupRecord"];
        } | {
          type: "command";
          at: string;
          command: Schemas["CommandRecord"];
        })[];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/drift": {
    get: {
      path: { orgID: string; sourceID: string };
      query: { limit?: string; cursor?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["DriftIndicator"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/restore-tests": {
    get: {
      path: { orgID: string; sourceID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["RestoreTestRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/incidents": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; source_id?: string; agent_id?: string; kind?: "backup_missed" | "restore_test_missed" | "agent_silent"; status?: "open" | "ended" };
      body: undefined;
      answers: { 200: {
        items: Schemas["IncidentRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/schedule-preview": {
    get: {
      path: { orgID: string };
      query: { backup_cron?: string; restore_test_cron?: string; timezone?: string };
      body: undefined;
      answers: { 200: Schemas["SchedulePreview"] };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/retention-preview": {
    get: {
      path: { orgID: string; sourceID: string };
      query: { limit?: string; cursor?: string; backup_id?: string; keep_last?: string; keep_days?: string; keep_daily?: string; keep_weekly?: string; keep_monthly?: string; keep_yearly?: string };
      body: undefined;
      answers: { 200: Schemas["RetentionPreview"] };
    };
  };
  "/api/orgs/{orgID}/backups/{backupID}/keep": {
    post: {
      path: { orgID: string; backupID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["BackupRecord"] };
    };
  };
  "/api/orgs/{orgID}/backups/{backupID}/release": {
    post: {
      path: { orgID: string; backupID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["BackupRecord"] };
    };
  };
  "/api/orgs/{orgID}/sources/{sourceID}/retention-resume": {
    post: {
      path: { orgID: string; sourceID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["SourceRecord"] };
    };
  };
  "/api/orgs/{orgID}/commands": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; source_id?: string; agent_id?: string; kind?: Schemas["CommandKind"]; status?: "queued" | "delivered" | "acked" };
      body: undefined;
      answers: { 200: {
        items: Schemas["CommandRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/commands/{commandID}": {
    get: {
      path: { commandID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["CommandRecord"] };
    };
  };
  "/api/orgs/{orgID}/agents/{agentID}/config-requests": {
    post: {
      path: { orgID: string; agentID: string };
      query: undefined;
      body: {
        kind: "discover";
      } | {
        kind: "try_source";
        place: string;
        database: string;
      } | {
        kind: "add_source";
        tried: string;
        name: string;
        checks: string[];
      } | {
        kind: "list_columns";
        source: string;
      } | {
        kind: "try_check";
        source: string;
        measure: Schemas["Measure"];
        table: string;
        column?: string;
        threshold: number;
      } | {
        kind: "add_check";
        tried: string;
        name: string;
      };
      answers: { 202: Schemas["ConfigRequestRecord"] };
    };
  };
  "/api/config-requests/{requestID}": {
    get: {
      path: { requestID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["ConfigRequestRecord"] };
    };
  };
  "/api/orgs/{orgID}/notifications/channels": {
    post: {
      path: { orgID: string };
      query: undefined;
      body: {
        kind: "email";
        email: string;
        name?: string;
        types?: Schemas["SubscribableType"][] | null;
        weekly_evidence?: boolean;
      } | {
        kind: "webhook";
        url: string;
        name?: string;
        types?: Schemas["SubscribableType"][] | null;
      };
      answers: { 201: Schemas["ChannelWithSecret"] };
    };
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string };
      body: undefined;
      answers: { 200: {
        items: Schemas["ChannelRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/notifications/channels/{channelID}": {
    get: {
      path: { orgID: string; channelID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["ChannelRecord"] };
    };
    patch: {
      path: { orgID: string; channelID: string };
      query: undefined;
      body: Schemas["ChangeChannelRequest"];
      answers: { 200: Schemas["ChannelRecord"] };
    };
    delete: {
      path: { orgID: string; channelID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["ChannelRecord"] };
    };
  };
  "/api/orgs/{orgID}/notifications/channels/{channelID}/rotate-secret": {
    post: {
      path: { orgID: string; channelID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["ChannelWithSecret"] };
    };
  };
  "/api/orgs/{orgID}/notifications/channels/{channelID}/test": {
    post: {
      path: { orgID: string; channelID: string };
      query: undefined;
      body: undefined;
      answers: { 202: Schemas["DeliveryQueued"] };
    };
  };
  "/api/orgs/{orgID}/notifications/deliveries": {
    get: {
      path: { orgID: string };
      query: { limit?: string; cursor?: string; from?: string; to?: string; channel_id?: string; status?: Schemas["DeliveryStatus"] };
      body: undefined;
      answers: { 200: {
        items: Schemas["DeliveryRecord"][];
        next_cursor: string | null;
      } };
    };
  };
  "/api/orgs/{orgID}/notifications/deliveries/{deliveryID}": {
    get: {
      path: { orgID: string; deliveryID: string };
      query: undefined;
      body: undefined;
      answers: { 200: Schemas["DeliveryDetail"] };
    };
  };
  "/api/orgs/{orgID}/notifications/deliveries/{deliveryID}/retry": {
    post: {
      path: { orgID: string; deliveryID: string };
      query: undefined;
      body: undefined;
      answers: { 202: Schemas["DeliveryQueued"] };
    };
  };
  "/api/orgs/{orgID}/overview": {
    get: {
      path: { orgID: string };
      query: { days?: string };
      body: undefined;
      answers: { 200: Schemas["Overview"] };
    };
  };
  "/api/orgs/{orgID}/live": {
    get: {
      path: { orgID: string };
      query: undefined;
      body: undefined;
      answers: { 200: string };
    };
  };
  "/api/openapi.json": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: string };
    };
  };
  "/api/docs": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: string };
    };
  };
  "/api/docs.css": {
    get: {
      path: undefined;
      query: undefined;
      body: undefined;
      answers: { 200: string };
    };
  };
}
