import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_TEMPLATES, templateChecks } from "../../src/checks/index.ts";
import type { SourceConfig } from "../../src/config/source-config.ts";
import { restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { backUp } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace, sizeOf } from "./scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "./source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** Each check of each template holds on a database of its application, and on no ruined one. */

const never = new AbortController().signal;

/** The tables that the checks read, with the columns that they have in GitLab 17. */
const GITLAB = `
  create table schema_migrations (version varchar primary key, finished_at timestamptz default now());
  insert into schema_migrations select n::text from generate_series(20230101000000, 20230101000149) n;
  create table application_settings (id bigserial primary key, default_projects_limit int, created_at timestamp);
  insert into application_settings (default_projects_limit) values (100000);
  create table users (id bigserial primary key, email varchar default '' not null, encrypted_password varchar default '' not null,
    admin boolean default false not null, state varchar, username varchar);
  insert into users (email, encrypted_password, admin, state, username) values
    ('root@example.org', '$2a$10$x', true, 'active', 'root'), ('jo@example.org', '$2a$10$y', false, 'active', 'jo');
  create table namespaces (id bigserial primary key, name varchar not null, path varchar not null, type varchar default 'User' not null);
  insert into namespaces (name, path) values ('root', 'root');
  create table projects (id bigserial primary key, name varchar, path varchar, namespace_id bigint not null);
  insert into projects (name, path, namespace_id) values ('demo', 'demo', 1)`;

/** The same of Odoo 17. */
const ODOO = `
  create table ir_module_module (id serial primary key, name varchar not null unique, state varchar(16));
  insert into ir_module_module (name, state) values ('base', 'installed'), ('sale', 'uninstalled');
  create table res_partner (id serial primary key, name varchar, company_id int);
  insert into res_partner (name) values ('My Company'), ('Ada');
  create table res_company (id serial primary key, name varchar not null, partner_id int not null references res_partner);
  insert into res_company (name, partner_id) values ('My Company', 1);
  create table res_users (id serial primary key, login varchar not null unique, password varchar, active boolean default true, partner_id int);
  insert into res_users (login, password, active, partner_id) values ('__system__', null, false, 1), ('ada', 'x', true, 2);
  create table ir_model (id serial primary key, model varchar not null unique);
  insert into ir_model (model) select 'model.' || n from generate_series(1, 40) n;
  create table ir_model_fields (id serial primary key, name varchar not null, model_id int not null references ir_model on delete cascade);
  insert into ir_model_fields (name, model_id) select 'id', id from ir_model`;

/** The same of Nextcloud 30. */
const NEXTCLOUD = `
  create table oc_appconfig (appid varchar(32) default '' not null, configkey varchar(64) default '' not null, configvalue text, primary key (appid, configkey));
  insert into oc_appconfig values ('files', 'enabled', 'yes'), ('dav', 'enabled', 'yes'), ('settings', 'enabled', 'yes'), ('core', 'installedat', '1');
  create table oc_users (uid varchar(64) default '' not null primary key, displayname varchar(64), password varchar(255) default '' not null);
  insert into oc_users values ('ada', 'Ada', '3|$argon2id$x');
  create table oc_storages (numeric_id bigserial primary key, id varchar(64), available int default 1 not null);
  insert into oc_storages (id) values ('home::ada');
  create table oc_filecache (fileid bigserial primary key, storage bigint default 0 not null, path varchar(4000), name varchar(250), size bigint default 0 not null);
  insert into oc_filecache (storage, path, name) values (1, '', ''), (1, 'files', 'files'), (1, 'files/a.txt', 'a.txt')`;

const WORDPRESS = `
  insert into wp_options (option_name, option_value) values ('siteurl', 'x'), ('home', 'x'), ('blogname', 'x'), ('active_plugins', 'a:0:{}');
  insert into wp_users (user_login) values ('ada');
  insert into wp_usermeta (user_id, meta_key, meta_value) values (1, 'wp_capabilities', 'a:1:{s:13:"administrator";b:1;}');
  insert into wp_posts (post_author, post_title, post_content, post_excerpt, to_ping, pinged, post_content_filtered)
    values (1, 'Hello', 'Hello world', '', '', '', '');`;

/** Django makes its schema itself. */
const DJANGO = `
import sys, django
from django.conf import settings
apps = ["auth", "contenttypes", "sessions"]
settings.configure(
    SECRET_KEY="x", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib." + app for app in apps],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}})
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
User.objects.create_superuser("ada", "ada@example.org", "secret")
`;

let place: TestPlace;
let postgres: SourcePostgres;
let mariadb: SourceMariadb;

beforeAll(async () => {
  const schemas = execFileSync(join(import.meta.dirname, "../../../../tools/install-schemas"), {
    encoding: "utf8",
  }).trim();
  place = await makeTestPlace();
  [postgres, mariadb] = await Promise.all([startSourcePostgres(place.dir), startSourceMariadb(place.dir)]);
  for (const [name, script] of Object.entries({ gitlab: GITLAB, odoo: ODOO, nextcloud: NEXTCLOUD })) {
    postgres.sql(`create database ${name} template template0`);
    postgres.sql(`\\connect ${name}\n${script}`);
  }
  const php = readFileSync(join(schemas, "usr/share/wordpress/wp-admin/includes/schema.php"), "utf8");
  const tables = ["options", "users", "usermeta", "posts"].map((table) => {
    const statements = [...php.matchAll(/CREATE TABLE \$wpdb->(\w+) \(([^;]*?)\) \$charset_collate;/g)];
    const [, , columns = ""] = statements.find(([, name]) => name === table) ?? [];
    return `create table wp_${table} (${columns.replaceAll("$max_index_length", "191")});`;
  });
  mariadb.sql(`create database shop; use shop; set sql_mode = ''; ${tables.join("\n")} ${WORDPRESS}`);
  execFileSync("python3", ["-c", DJANGO, join(place.dir, "django.db")], {
    env: { ...process.env, PYTHONPATH: join(schemas, "usr/lib/python3/dist-packages") },
  });
});
afterAll(async () => {
  await Promise.all([postgres?.close(), mariadb?.close()]);
  await place?.remove();
});

function sourceOf(name: string): SourceConfig {
  const common = { slug: name, sandbox: "process", checkTimeout_s: 60 } as const;
  if (name === "wordpress") return { ...mariadb.source, slug: name };
  if (name === "django")
    return { ...common, engine: "sqlite", checks: [], path: join(place.dir, "django.db") } as SourceConfig;
  const variable = `TEST_${name.toUpperCase()}_URL`;
  process.env[variable] = postgres.url(postgres.environment["PGUSER"] ?? "", "", name);
  return { ...postgres.source, slug: name, connection: { kind: "env", name: variable } };
}

test.each(CHECK_TEMPLATES)(
  "the checks for $application hold on its database, and each notices every way in which that is ruined",
  async (template) => {
    const source: SourceConfig = {
      ...sourceOf(template.name),
      checks: templateChecks(template, template.prefix),
    };
    const made = await backUp(place, source);
    const tested = await restoreAndCheck({
      source,
      ciphertext: { path: made.path },
      sha256: made.sha256,
      identities: [place.identity],
      scratchDir: place.scratch,
      backupMetadata: JSON.parse(JSON.stringify({ ...made.sourceMetadata, ...sizeOf(made) })) as Record<
        string,
        unknown
      >,
      negativeControls: "all",
      signal: never,
    });
    expect(tested.reason).toBeUndefined();
    for (const { id } of source.checks) {
      const outcome = tested.checks.find((check) => check.id === id);
      expect(outcome?.result, id).toBe("passed");
      expect(outcome?.negative_control?.noticed.length, id).toBeGreaterThan(0);
      expect(outcome?.negative_control, id).toMatchObject({ not_noticed: [], not_tried: [] });
    }
  },
);
