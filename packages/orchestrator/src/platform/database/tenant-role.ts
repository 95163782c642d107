import pg from "pg";
import type { ConnectionSettings } from "../postgres/connection-settings.ts";

/** Makes the role of migration 0020, which a dump names and does not hold: roles belong to the server. */
export async function makeTenantRole(connection: ConnectionSettings): Promise<void> {
  const client = new pg.Client({ ...connection, application_name: "attestore-server database" });
  await client.connect();
  try {
    await client.query(`do $$ begin
      if not exists (select from pg_roles where rolname = 'attestore_tenant') then
        create role attestore_tenant nologin;
      end if;
      execute format('grant attestore_tenant to %I', current_user);
    end $$`);
  } finally {
    await client.end();
  }
}
