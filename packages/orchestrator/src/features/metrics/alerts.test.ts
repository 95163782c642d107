import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { type Prometheus, type Sample, startPrometheus } from "../../../test/prometheus.ts";
import { TestServer } from "../../../test/test-server.ts";

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));
const RULES = here("packaging/prometheus/attestore-rules.yaml");
const RUNBOOKS = here("docs/runbooks");

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook_url: string };
}

const rules: Rule[] = [];
const TOKEN = "a-token-of-this-test";

let directory: string;
let server: TestServer;
let prometheus: Prometheus | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "alerts-"));
  const { groups } = parse(await readFile(RULES, "utf8")) as { groups: { rules: Rule[] }[] };
  rules.push(...groups.flatMap((group) => group.rules));
  server = await TestServer.create();
  await server.serve({
    ATTESTORE_BACKUP_DIRECTORY: join(directory, "backups"),
    ATTESTORE_METRICS_TOKEN: TOKEN,
    ATTESTORE_BACKUP_RECIPIENTS: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
  });
});
afterAll(async () => {
  await prometheus?.stop();
  await server.remove();
  await rm(directory, { recursive: true });
});

const metricsOf = ({ expr }: Rule): string[] => [...new Set(expr.match(/\battestore_[a-z_]+/g))];

test("every metric that an alert looks at is one that a started service shows, with a value", async () => {
  const scrape = async (): Promise<string> => (await server.send("GET", "/metrics")).body.toString();
  // The first checkpoints and jobs come a moment after the start.
  await expect.poll(scrape).toMatch(/^attestore_log_checkpoint_timestamp_seconds \d/m);
  await expect.poll(scrape).toMatch(/^attestore_job_lag_seconds\{/m);
  const scraped = await scrape();
  for (const rule of rules)
    for (const metric of metricsOf(rule))
      expect(scraped, rule.alert).toMatch(new RegExp(`^${metric}(?:\\{[^}]*\\})? -?[0-9.e+]+$`, "m"));
});

test("every alert has a runbook that names it and its metric, and every runbook an alert", async () => {
  for (const rule of rules) {
    const page = await readFile(here(rule.annotations.runbook_url), "utf8");
    expect(page, rule.alert).toContain(`\`${rule.alert}\``);
    expect(page.split("\n## ").map((part) => part.split("\n")[0])).toEqual([
      expect.stringMatching(/^# /),
      "What it means",
      "What to do",
      "Afterwards",
    ]);
    const metrics = /Metric: `([^`]+)`/.exec(page)?.[1] ?? "";
    const ofPage = rules.filter((other) => other.annotations.runbook_url === rule.annotations.runbook_url);
    expect(
      ofPage.some(({ expr }) => expr.includes(metrics)),
      rule.alert,
    ).toBe(true);
  }
  const linked = new Set(rules.map(({ annotations }) => basename(annotations.runbook_url)));
  expect((await readdir(RUNBOOKS)).toSorted()).toEqual([...linked].toSorted());
});

/** Two hours into the test's time, which begins at 0, in seconds. */
const AT_S = 7200;
const series = (name: string, value: number): object => ({ series: name, values: `${value}x24` });

/** What makes each alert fire, and the same in order. */
const CASES: Readonly<Record<string, [alarming: object[], calm: object[]]>> = {
  AttestoreDown: [[series('up{job="attestore"}', 0)], [series('up{job="attestore"}', 1)]],
  AttestoreDatabaseUnreachable: one("attestore_database_up", 0, 1),
  AttestoreNotReady: one("attestore_ready", 0, 1),
  AttestoreReceiptsRefused: [[received(503)], [received(201)]],
  AttestoreLogReadOnly: one("attestore_logs_set_back", 1, 0),
  AttestoreClocksApart: one("attestore_clocks_apart_seconds", 25, 0.2),
  AttestoreStandbyNotAwaited: one("attestore_standbys_unawaited", 1, 0),
  AttestoreDiskFull: one("attestore_disk_free_bytes", 2 ** 30, 2 ** 36),
  AttestoreCheckpointNotPublished: one("attestore_log_checkpoint_timestamp_seconds", -6000, 3600),
  AttestoreWitnessMissing: one("attestore_logs_unwitnessed", 2, 0),
  AttestoreScheduleMissed: one('attestore_incidents_open{kind="restore_test_missed"}', 1, 0),
  AttestoreAgentSilent: one('attestore_incidents_open{kind="agent_silent"}', 1, 0),
  AttestoreServiceBackupOld: [
    [
      series("attestore_service_backup_newest_timestamp_seconds", -200_000),
      series("attestore_service_backup_interval_seconds", 86_400),
    ],
    [
      series("attestore_service_backup_newest_timestamp_seconds", -80_000),
      series("attestore_service_backup_interval_seconds", 86_400),
    ],
  ],
  AttestoreServiceBackupNotSet: [[], [series("attestore_service_backup_interval_seconds", 86_400)]],
  AttestoreMailNotSent: one("attestore_mail_oldest_seconds", 4000, 3),
  AttestoreCertificateExpires: one(
    "attestore_certificate_not_after_timestamp_seconds",
    86_400 * 3,
    86_400 * 30,
  ),
  AttestoreDatabaseConnectionsExhausted: one('attestore_database_connections_waiting{pool="log"}', 3, 0),
  AttestoreOpenFilesFew: [
    [series("attestore_open_files", 900), series("attestore_open_files_limit", 1024)],
    [series("attestore_open_files", 700), series("attestore_open_files_limit", 1024)],
  ],
  AttestoreJobLate: one('attestore_job_lag_seconds{exported_job="notify",job="attestore"}', 3000, 1),
  AttestoreDeletionsHeld: one("attestore_deletions_held", 1, 0),
  AttestoreSweepStopped: one("attestore_objects_sweep_stopped", 1, 0),
};

/** A counter that grows. */
function received(status: number): object {
  const labels = `{method="POST",route="/v1/receipts",status="${status}"}`;
  return { series: `attestore_http_request_duration_seconds_count${labels}`, values: "0+10x24" };
}

function one(name: string, alarming: number, calm: number): [object[], object[]] {
  return [[series(name, alarming)], [series(name, calm)]];
}

/** Prometheus, with the scrape configuration that docs/operate.md shows. */
async function startDocumented(): Promise<Prometheus> {
  const page = await readFile(here("docs/operate.md"), "utf8");
  const [, documented = ""] = /```yaml\n(scrape_configs:[^]*?)```/.exec(page) ?? [];
  await writeFile(join(directory, "token"), TOKEN);
  const config = documented
    .replace("/etc/prometheus/attestore-ca.pem", join(server.data, "tls/ca.pem"))
    .replace("/etc/prometheus/attestore-token", join(directory, "token"))
    .replace("attestore.example.org:8443", `localhost:${server.port}`);
  return startPrometheus(
    directory,
    `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: ["${RULES}"]\n${config}`,
  );
}

test("Prometheus scrapes the service as documented, and keeps the jobs' names", async () => {
  const started = (prometheus = await startDocumented());
  const ask = (query: string): Promise<Sample[]> => started.ask(query);
  await expect.poll(() => ask("attestore_ready == 1"), { timeout: 30_000 }).toHaveLength(1);
  const jobs = await ask("attestore_job_lag_seconds");
  expect(jobs).not.toEqual([]);
  for (const { metric } of jobs)
    expect(metric).toMatchObject({ job: "attestore", exported_job: expect.stringMatching(/^[a-z_]+$/) });
});

test("each alert fires when it should and not otherwise, by Prometheus' own promtool", async () => {
  expect(Object.keys(CASES).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  const lateJob = {
    name: "the late job is named",
    interval: "10m",
    input_series: CASES["AttestoreJobLate"]?.[0],
    alert_rule_test: [
      {
        eval_time: `${AT_S / 60}m`,
        alertname: "AttestoreJobLate",
        exp_alerts: [
          {
            exp_labels: { severity: "warning", job: "attestore", exported_job: "notify" },
            exp_annotations: {
              summary: "The job notify is 50m 0s late.",
              runbook_url: "docs/runbooks/job-late.md",
            },
          },
        ],
      },
    ],
  };
  const notScraped = {
    name: "a service that is not scraped",
    interval: "10m",
    input_series: [],
    alert_rule_test: [
      {
        eval_time: `${AT_S / 60}m`,
        alertname: "AttestoreDown",
        exp_alerts: [
          {
            exp_labels: { severity: "critical", job: "attestore" },
            exp_annotations: {
              summary: "The service does not answer, or is not scraped.",
              runbook_url: "docs/runbooks/down.md",
            },
          },
        ],
      },
    ],
  };
  const tests = Object.entries(CASES).flatMap(([alert, [alarming, calm]]) =>
    [alarming, calm].map((input_series, isCalm) => ({
      name: `${alert}, ${isCalm === 1 ? "calm" : "alarming"}`,
      interval: "10m",
      input_series,
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
          eval_time: `${AT_S / 60}m`,
          exp_samples: [{ labels: "{}", value: isCalm === 1 ? 0 : 1 }],
        },
      ],
    })),
  );
  const file = join(directory, "rules.test.yaml");
  await writeFile(
    file,
    stringify({ rule_files: [RULES], evaluation_interval: "10m", tests: [...tests, lateJob, notScraped] }),
  );
  await run("promtool", ["check", "rules", RULES]);
  const { stdout } = await run("promtool", ["test", "rules", file]).catch(
    (error: { stdout: string; stderr: string }) => ({ stdout: `${error.stdout}${error.stderr}` }),
  );
  expect(stdout).toContain("SUCCESS");
  expect(stdout).not.toContain("FAILED");
});
