/** What stays in the tables when years have passed: finished, decided, ended and registered. */
import type { TestService } from "../service.ts";
import type { World } from "../tenancy/world.ts";

/** Adds `count` rows of each kind to what the organisation has. Gives the large tables' names. */
export async function addHistory({ pool }: TestService, world: World, count: number): Promise<Set<string>> {
  const { id: org } = world.org;
  const { sourceId: source } = world.backup;
  const at = "now() - interval '2 days' - n * interval '1 hour'";
  const many = "generate_series(1, $2::int) as n";
  const statements: [string, string[]][] = [
    // Nothing is due at the others, and each source has a backup.
    [
      "update sources set retention = null, schedule = null, next_backup_at = null where org_id <> $1 and $2::int > 0",
      [],
    ],
    [
      `update backups set source_id = one.source from (
          select backup.id, source.id as source from (select id, row_number() over (order by id) as n from backups) as backup
          join (select id, row_number() over (order by id) as n from sources where org_id <> $1 and $2::int > 0) as source using (n)) as one
        where backups.id = one.id`,
      [],
    ],
    [
      `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, status, decided_at)
        select $3, kind, ${at}, $1, ${at}, case when n % 2 = 0 then 'missed' else 'done' end, ${at}
        from ${many}, unnest(array['backup', 'restore_test']) as kind`,
      [source],
    ],
    [
      `insert into incidents (id, org_id, kind, source_id, began_at, ended_at)
        select 'evt_' || n, $1, 'backup_missed', $3, ${at}, ${at} from ${many}`,
      [source],
    ],
    [
      `insert into notification_incidents (id, org_id, kind, source_id, began_at, ended_at)
        select 'evt_' || n, $1, 'backup_missed', $3, ${at}, now() from ${many}`,
      [source],
    ],
    [
      `insert into incidents (id, org_id, kind, source_id, began_at) select 'evt_open', $1, 'restore_test_missed', $3, now() where $2::int > 0`,
      [source],
    ],
    [
      `insert into log_heads (org_id, tree_size, root_hash, recorded_at)
        select $1, 1000000 + n, sha256(''), ${at} from ${many}`,
      [],
    ],
    [
      `insert into log_emissions (org_id, hour, emitted_at, tree_size, root_hash, checkpoint)
        select $1, date_trunc('hour', ${at}), ${at}, 0, sha256(''), 'a head' from ${many}`,
      [],
    ],
    [
      `insert into idempotency_keys (scope_sha256, fingerprint, status, body, created_at, expires_at)
        select sha256((n || $1)::bytea), '', 200, 'x', now(), now() + interval '1 day' from ${many}`,
      [],
    ],
    [`insert into rate_limits (bucket, window_start, hits) select $1 || n, now(), 1 from ${many}`, []],
    [
      `insert into config_requests (id, org_id, agent_id, asked_by, request, status, created_at, expires_at)
        select 'zzz_' || n, $1, $3, 'user_1', '{"kind":"discover"}', 'answered', now(), now() from ${many}`,
      [world.agent.id],
    ],
  ];
  for (const [text, more] of statements) await pool.query(text, [org, count, ...more]);
  await pool.query("vacuum analyze");
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and reltuples >= ${Math.floor(count / 2)} and relnamespace = current_schema()::regnamespace`,
  );
  return new Set(rows.map(({ name }) => name));
}
