import type { ProposedCheck } from "../proposed/candidate.ts";

/** Checks for the database of a well-known application. */
export interface CheckTemplate {
  readonly name: string;
  /** The application, for people. */
  readonly application: string;
  /** The engines of sources that it fits. */
  readonly engines: readonly string[];
  /** The prefix of its tables' names, unless somebody chose another. */
  readonly prefix: string;
  /** Tables, without the prefix, by which the application is recognised. */
  readonly tables: readonly string[];
  /** For people: changes that some installations need; null if there are none. */
  readonly note: string | null;
  /** With `{p}` in place of the prefix. */
  readonly checks: readonly ProposedCheck[];
}

/**
 * Each check holds on every installation that is in use, and notices if a table that it reads is
 * empty, or a column that it names is. None depends on how much an application is used: checks of
 * age and of numbers of rows are proposed from the source's own data.
 */
export const CHECK_TEMPLATES: readonly CheckTemplate[] = [
  {
    name: "wordpress",
    application: "WordPress",
    engines: ["mariadb", "mysql"],
    prefix: "wp_",
    tables: ["options", "posts", "usermeta"],
    note: null,
    checks: [
      {
        id: "wordpress-settings",
        query:
          "select count(*) as n from {p}options where option_name in ('siteurl', 'home', 'blogname', 'active_plugins')",
        expect: "n = 4",
      },
      {
        id: "wordpress-administrators",
        query:
          "select count(*) as n from {p}users u join {p}usermeta m on m.user_id = u.ID where m.meta_key = '{p}capabilities' and m.meta_value like '%administrator%'",
        expect: "n >= 1",
      },
      {
        id: "wordpress-posts",
        query: "select count(*) as n from {p}posts where post_status = 'publish' and post_content <> ''",
        expect: "n >= 1",
      },
    ],
  },
  {
    name: "nextcloud",
    application: "Nextcloud",
    engines: ["postgresql", "mariadb", "mysql", "sqlite"],
    prefix: "oc_",
    tables: ["filecache", "appconfig", "storages"],
    note: "The files themselves are a source of their own (engine files).",
    checks: [
      {
        id: "nextcloud-apps",
        query:
          "select count(*) as n from {p}appconfig where configkey = 'enabled' and appid in ('files', 'dav', 'settings')",
        expect: "n >= 2",
      },
      {
        id: "nextcloud-users",
        query: "select count(*) as n from {p}users where password <> ''",
        expect: "n >= 1",
      },
      {
        id: "nextcloud-files",
        query:
          "select count(*) as n from {p}filecache f join {p}storages s on s.numeric_id = f.storage where f.path = 'files' and s.id <> ''",
        expect: "n >= 1",
      },
    ],
  },
  {
    name: "gitlab",
    application: "GitLab",
    engines: ["postgresql"],
    prefix: "",
    tables: ["projects", "namespaces", "application_settings"],
    note: "Repositories, uploads and secrets (gitlab-secrets.json) are sources of their own (engine files).",
    checks: [
      { id: "gitlab-migrations", query: "select count(*) as n from schema_migrations", expect: "n >= 100" },
      { id: "gitlab-settings", query: "select count(*) as n from application_settings", expect: "n >= 1" },
      {
        id: "gitlab-administrators",
        query:
          "select count(*) as n from users where admin and state = 'active' and encrypted_password <> ''",
        expect: "n >= 1",
      },
      {
        id: "gitlab-projects",
        query:
          "select count(*) as n from projects p join namespaces n on n.id = p.namespace_id where p.path <> ''",
        expect: "n >= 1",
      },
    ],
  },
  {
    name: "odoo",
    application: "Odoo",
    engines: ["postgresql"],
    prefix: "",
    tables: ["ir_module_module", "res_company", "res_partner"],
    note: "Attachments are in the file store: back it up as a separate source (engine files).",
    checks: [
      {
        id: "odoo-modules",
        query: "select count(*) as n from ir_module_module where name = 'base' and state = 'installed'",
        expect: "n = 1",
      },
      {
        id: "odoo-companies",
        query:
          "select count(*) as n from res_company c join res_partner p on p.id = c.partner_id where p.name <> ''",
        expect: "n >= 1",
      },
      {
        id: "odoo-users",
        query:
          "select count(*) as n from res_users u join res_partner p on p.id = u.partner_id where u.active",
        expect: "n >= 1",
      },
      {
        id: "odoo-models",
        query: "select count(distinct m.id) as n from ir_model m join ir_model_fields f on f.model_id = m.id",
        expect: "n >= 10",
      },
    ],
  },
  {
    name: "django",
    application: "Django",
    engines: ["postgresql", "mariadb", "mysql", "sqlite"],
    prefix: "",
    tables: ["django_migrations", "django_content_type", "auth_permission"],
    note: "An application with its own user model has another table than auth_user.",
    checks: [
      {
        id: "django-migrations",
        query: "select count(*) as n from django_migrations where app in ('auth', 'contenttypes')",
        expect: "n >= 2",
      },
      {
        id: "django-content-types",
        query:
          "select count(distinct t.id) as n from django_content_type t join auth_permission p on p.content_type_id = t.id",
        expect: "n >= 3",
      },
      {
        id: "django-users",
        query: "select count(*) as n from auth_user where is_active and username <> '' and password <> ''",
        expect: "n >= 1",
      },
    ],
  },
];

/** The allowed prefixes: a prefix becomes part of a query. */
export const TABLE_PREFIX = /^[A-Za-z0-9_]{0,32}$/;

/** A template's checks for tables with this prefix. */
export function templateChecks({ checks }: CheckTemplate, prefix: string): ProposedCheck[] {
  if (!TABLE_PREFIX.test(prefix)) throw new Error("such a prefix is refused before");
  return checks.map(({ id, query, expect }) => ({ id, query: query.replaceAll("{p}", prefix), expect }));
}

/**
 * The prefix of the application's tables among these names, which may be quoted and have a schema
 * or database before them; null if they are not all there.
 */
export function prefixAmong(
  { tables: [first = "", ...more] }: CheckTemplate,
  names: readonly string[],
): string | null {
  const bare = new Set(names.map((name) => name.replaceAll(/[`"]/g, "").replace(/^.*\./, "")));
  for (const name of bare) {
    const prefix = name.endsWith(first) ? name.slice(0, -first.length) : null;
    if (prefix !== null && TABLE_PREFIX.test(prefix) && more.every((each) => bare.has(`${prefix}${each}`)))
      return prefix;
  }
  return null;
}
