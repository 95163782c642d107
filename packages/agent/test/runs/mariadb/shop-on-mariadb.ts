import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";
import type { EarlierTests } from "../../../src/checks/index.ts";
import type { CheckConfig, SourceConfigOf } from "../../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../../src/runs/write-encrypted-dump.ts";
import { backUp, testBackup } from "../back-and-test.ts";
import { childrenNamed, makeTestPlace, type Resealed, type TestPlace } from "../scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";

export const never = new AbortController().signal;
export const ROWS = 5_000;
export const SETTINGS = { ignoresCase: false, pageSize: null, memory_mb: 1024 };
/** Everything that an option file or a URL could trip over. */
export const PASSWORD = `a"b'c#d\\e;f %40&ü\\n`;

export let place: TestPlace;
export let server: SourceMariadb;
export let backup: MadeBackup;

/** Of a file whose tests back up the database "shop" of MariaDB or MySQL, or damage its backup. */
export function useShopOnMariadb(): void {
  beforeAll(async () => {
    place = await makeTestPlace();
    server = await startSourceMariadb(place.dir);
    server.sql(`
      create database shop default character set utf8mb4; create database \`od-d \`\`name\`; use shop;
      create table orders (id bigint unsigned not null auto_increment primary key, status enum('paid', 'shipped') not null default 'paid',
        price decimal(12, 2) not null check (price >= 0), note text, photo blob, flag bit(3) default b'101', padded int(8) zerofill default 42,
        doubled decimal(13, 2) as (price * 2) stored, key by_status (status, price), fulltext key words (note)) engine = InnoDB;
      set session ${server.product === "MySQL" ? "cte_max_recursion_depth" : "max_recursive_iterations"} = 1000000;
      insert into orders (price, note, photo) with recursive numbers (seq) as (select 1 union all select seq + 1 from numbers where seq < ${ROWS})
        select seq, concat('secret note ', seq, ' "\\n\\t\\\\ it''s ü€😀'), unhex('00ff0d0a5c27') from numbers;
      create table items (order_id bigint unsigned not null, n int, foreign key (order_id) references orders (id) on delete cascade);
      insert into items select id, id % 7 from orders;
      create table old_fashioned (a int) engine = MyISAM;
      insert into old_fashioned values (1), (2), (3), (4);
      create table years (y int) partition by range (y) (partition p0 values less than (2000), partition p1 values less than maxvalue);
      ${server.product === "MySQL" ? "create user gone@nowhere identified by 'x'; grant all on shop.* to gone@nowhere;" : ""}
      create definer = 'gone'@'nowhere' view paid as select id, price from orders where status = 'paid';
      create definer = 'gone'@'nowhere' function twice(n int) returns int deterministic return 2 * n;
      create trigger no_negatives before insert on items for each row set new.n = abs(new.n);
      create event nightly on schedule every 1 day do delete from items where n > 1000;
      use \`od-d \`\`name\`; create table \`we;ird\`\`t\` (\`a b\` int); insert into \`we;ird\`\`t\` values (7);
      create user limited@localhost identified by 'hush-hush'; grant select on shop.orders to limited@localhost;
      create user special@localhost identified by ${`'${PASSWORD.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`}; grant all on *.* to special@localhost;
    `);
    backup = await back();
  });

  afterAll(async () => {
    await server?.close();
    await place?.remove();
  });
}

export function back(
  more: Partial<SourceConfigOf<"mariadb" | "mysql">> = {},
  signal = never,
): Promise<MadeBackup> {
  return backUp(place, { ...server.source, ...more }, signal);
}

export function testIt(
  checks: CheckConfig[] = [],
  more: {
    made?: Resealed;
    metadata?: Record<string, unknown>;
    seen?: EarlierTests;
    timeout_s?: number;
  } = {},
): Promise<RestoreTestResult> {
  const made = more.made ?? backup;
  return testBackup(place, { ...server.source, checks, checkTimeout_s: more.timeout_s ?? 60 }, backup, {
    instead: made,
    metadata: more.metadata,
    seen: more.seen,
  });
}

export const nothingLeft = (): void => {
  expect(readdirSync(place.scratch)).toEqual([]);
  for (const name of ["mariadb", "mariadb-dump", "mysql", "mysqldump"])
    expect(childrenNamed(name), name).toEqual([]);
};
