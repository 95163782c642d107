import type { CommandHelp } from "@attestore/host/command-help";

/** Examples and documentation of each command, by its words. */
export const HELP: Readonly<Record<string, CommandHelp>> = {
  serve: {
    examples: [
      ["attestore-server serve", "run it until Ctrl-C"],
      [
        "ATTESTORE_DATA=/srv/attestore ATTESTORE_PUBLIC_URL=https://backup.example.org attestore-server serve",
        "with settings of your own",
      ],
    ],
    page: "operate.md#run-it",
  },
  migrate: {
    examples: [
      ["attestore-server migrate", "with the new program, before the service starts; `serve` does the same"],
    ],
    page: "operate.md#run-it",
  },
  fsck: {
    examples: [
      ["attestore-server fsck", "beside a running service; exit code 1 if anything is wrong"],
      ["attestore-server fsck --without-archive", "without reading the archive of old receipts"],
    ],
    page: "operate.md#back-up-the-service-itself",
  },
  "log lost": {
    examples: [["attestore-server log lost", "what the newest database would bring back; changes nothing"]],
    page: "operate.md#a-database-that-was-set-back",
  },
  "log recover": {
    examples: [
      ["attestore-server log recover my-team", "what would be lost for good; changes nothing"],
      [
        'attestore-server log recover my-team --yes --because "the standby lacked entries"',
        "the log continues as its next generation",
      ],
    ],
    page: "operate.md#a-database-that-was-set-back",
  },
  "log archive": {
    examples: [
      ["attestore-server log archive --older-than 400", "beside a running service; may be interrupted"],
    ],
    page: "operate.md#the-archive-of-old-receipts",
  },
  "log unarchive": {
    examples: [
      ["attestore-server log unarchive", "how much is in the archive; changes nothing"],
      ["attestore-server log unarchive --yes", "take all of it back into the database"],
    ],
    page: "operate.md#the-archive-of-old-receipts",
  },
  config: {
    examples: [["attestore-server config", "which settings apply, and where each comes from"]],
    page: "operate.md#settings",
  },
  doctor: {
    examples: [["attestore-server doctor", "the first thing to run if something does not work"]],
    page: "operate.md#something-is-wrong-doctor",
  },
  "org add": {
    examples: [
      [
        'attestore-server org add "My Team" --owner you@example.org',
        "an organisation, and who may open it in the dashboard",
      ],
    ],
    page: "operate.md#organisations-and-people",
  },
  "org list": {
    examples: [["attestore-server org list", "with their ids and slugs"]],
    page: "operate.md#organisations-and-people",
  },
  "user add": {
    examples: [
      [
        "attestore-server user add jo@example.org --org my-team --role auditor",
        "let somebody in, without a mail server",
      ],
    ],
    page: "operate.md#organisations-and-people",
  },
  "user list": {
    examples: [["attestore-server user list --org my-team", "users and pending invitations"]],
    page: "operate.md#organisations-and-people",
  },
  "auth-key create": {
    examples: [
      ["attestore-server auth-key create --org my-team", "a key for the next host"],
      [
        "attestore-server auth-key create --org my-team --name fleet --max-uses 50 --expires-in 7d",
        "a key for fifty hosts, valid for a week",
      ],
    ],
    page: "agent.md#attach",
  },
  "auth-key list": {
    examples: [["attestore-server auth-key list --org my-team --all", "also those that no longer work"]],
    page: "agent.md#attach",
  },
  "auth-key revoke": {
    examples: [
      ["attestore-server auth-key revoke key_01k…", "nobody else attaches with it; agents that did stay"],
    ],
    page: "agent.md#attach",
  },
  "agent list": {
    examples: [["attestore-server agent list --org my-team", "hosts, versions, and when each was last seen"]],
    page: "agent.md#attach",
  },
  "agent revoke": {
    examples: [["attestore-server agent revoke agent_01k…", "a host that was lost or sold"]],
    page: "agent.md#attach",
  },
  "bootstrap list": {
    examples: [["attestore-server bootstrap list", "see which hosts wait for approval"]],
    page: "agent.md#attach",
  },
  "bootstrap show": {
    examples: [["attestore-server bootstrap show KQ7M-2WXA", "with the fingerprint to compare"]],
    page: "agent.md#attach",
  },
  "bootstrap approve": {
    examples: [["attestore-server bootstrap approve KQ7M-2WXA --org my-team", "let the host in"]],
    page: "agent.md#attach",
  },
  "bootstrap deny": {
    examples: [
      ["attestore-server bootstrap deny KQ7M-2WXA --org my-team", "refuse a host that you do not know"],
    ],
    page: "agent.md#attach",
  },
  "command queue": {
    examples: [
      [
        "attestore-server command queue --org my-team --source shop --kind restore_test",
        "test the newest backup now",
      ],
    ],
    page: "schedules.md",
  },
  "command list": {
    examples: [["attestore-server command list --org my-team", "the newest, with their state"]],
    page: "schedules.md",
  },
  "backup list": {
    examples: [["attestore-server backup list --org my-team --going", "what retention is about to remove"]],
    page: "retention.md",
  },
  "backup keep": {
    examples: [["attestore-server backup keep bkp_01k…", "keep it, whatever the rules say"]],
    page: "retention.md#keep-one",
  },
  "backup release": {
    examples: [["attestore-server backup release bkp_01k…", "let the rules decide again"]],
    page: "retention.md#keep-one",
  },
  "retention resume": {
    examples: [
      [
        "attestore-server retention resume --org my-team --source shop",
        "go on, because the change was right",
      ],
    ],
    page: "retention.md#retention-stops-at-a-sudden-change",
  },
  "operator add": {
    examples: [["attestore-server operator add ops@example.org --name Jo", "somebody who runs the service"]],
    page: "operate.md#operators",
  },
  "operator list": {
    examples: [["attestore-server operator list", "list every operator"]],
    page: "operate.md#operators",
  },
  "passkey reset": {
    examples: [
      ["attestore-server passkey reset jo@example.org", "somebody lost their passkeys and recovery codes"],
    ],
    page: "operate.md#who-lost-their-passkeys",
  },
  "objects status": {
    examples: [["attestore-server objects status", "what the store and the database know of each other"]],
    page: "operate.md#the-database-and-its-objects",
  },
  "objects adopt": {
    examples: [
      ["attestore-server objects adopt --yes", "declare that the store belongs to this installation"],
    ],
    page: "operate.md#the-database-and-its-objects",
  },
  "objects quarantine": {
    examples: [["attestore-server objects quarantine", "what will be removed if nobody objects"]],
    page: "operate.md#quarantine",
  },
  "objects put-back": {
    examples: [["attestore-server objects put-back --all", "keep everything that is in quarantine"]],
    page: "operate.md#quarantine",
  },
  "objects sweep": {
    examples: [
      ["attestore-server objects sweep", "show what would be quarantined"],
      ["attestore-server objects sweep --yes", "do it"],
    ],
    page: "operate.md#quarantine",
  },
  "keys list": {
    examples: [["attestore-server keys list", "which key is in a file, and which in a token"]],
    page: "operate.md#keys-in-a-pkcs11-token",
  },
  "keys move": {
    examples: [["attestore-server keys move --remove-files", "leave no copy in the data directory"]],
    page: "operate.md#keys-in-a-pkcs11-token",
  },
  trust: {
    examples: [
      [
        "sudo ATTESTORE_DATA=/var/lib/attestore-server attestore-server trust",
        "curl and other programs of this machine trust the service",
      ],
      ["sudo ATTESTORE_DATA=/var/lib/attestore-server attestore-server trust --undo", "take it out again"],
    ],
    page: "operate.md#certificates",
  },
  database: {
    examples: [
      ["attestore-server database", "then, in another terminal: pg_dump --host=DATA/postgres/run …"],
    ],
    page: "operate.md#back-up-the-service-itself",
  },
  "database upgrade": {
    examples: [
      [
        "attestore-server database upgrade --from /usr/lib/postgresql/15",
        "after the program was replaced; the service is stopped",
      ],
    ],
    page: "operate.md#a-new-major-version-of-postgresql",
  },
  "service backup": {
    examples: [
      [
        "attestore-server service backup --to /srv/backups --recipient age1…",
        "one encrypted file, beside a running service",
      ],
    ],
    page: "operate.md#back-up-the-service-itself",
  },
  "service restore": {
    examples: [
      [
        "attestore-server service restore attestore-service-….age --identity recovery.key",
        "onto an empty machine",
      ],
    ],
    page: "operate.md#restore-it",
  },
};
