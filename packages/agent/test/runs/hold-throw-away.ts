/** Claims the throw-away database of TEST_SCRATCH_URL and waits to be killed. */
import { programsIn } from "../../src/processes/run-program.ts";
import { resolveConnection } from "../../src/engines/postgresql/connection/connection.ts";
import { findInstallations } from "../../src/engines/postgresql/connection/installations.ts";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import { claimThrowAway } from "../../src/engines/postgresql/throw-away/claim.ts";

const environment = await resolveConnection({ kind: "env", name: "TEST_SCRATCH_URL" });
const [installation] = await findInstallations(["psql"]);
const run = programsIn(installation?.bin ?? "", environment);
await claimThrowAway(await PsqlSession.open(run, {}, new AbortController().signal));
process.stdout.write("ready\n");
setInterval(() => undefined, 1_000);
