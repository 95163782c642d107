import { afterAll, beforeAll, expect, test } from "vitest";
import { ownAddress, type Answer } from "../../../test/client.ts";
import { ENDLESS_S, endless } from "../../../test/endless-windows.ts";
import { startTestService, type Replica, type TestService } from "../../../test/service.ts";
import { RATE_LIMITS, type RateLimitTable } from "../../platform/http/route/rate-limits.ts";

let service: TestService;
let replica: Replica;
beforeAll(async () => {
  const rateLimits: Partial<RateLimitTable> = {
    ...endless(
      "signup_address",
      "signup_email",
      "login_address",
      "login_email",
      "login_mailbox",
      "verify_email",
    ),
    default: { ...RATE_LIMITS.default, limit: 40, window_s: ENDLESS_S },
  };
  service = await startTestService({ rateLimits });
  replica = await service.listen();
});
afterAll(async () => {
  await replica.close();
  await service.close();
});

let addresses = 0;
const newAddress = (): string => `limited.${++addresses}@example.org`;

/** Sends that number at once, to both replicas in turns. */
async function send(
  count: number,
  call: () => { path: string; json: unknown; from: string },
): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, n) =>
      (n % 2 === 0 ? service : replica).call({ method: "POST", ...call() }),
    ),
  );
}

function expectLimited(answers: readonly Answer[], name: string, limit: number): void {
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.length - refused.length).toBe(limit);
  for (const { json, headers } of refused) {
    expect(json["error"]).toBe("rate_limited");
    const wait_s = Number(headers["retry-after"]);
    expect(Number.isSafeInteger(wait_s) && wait_s >= 1 && wait_s <= ENDLESS_S).toBe(true);
    expect(headers["ratelimit"]).toMatch(new RegExp(`"${name}";r=0;t=${wait_s}(,|$)`));
    expect(headers["ratelimit-policy"]).toContain(`"${name}";q=${limit};w=${ENDLESS_S}`);
  }
  for (const { headers } of answers) expect(headers["ratelimit-policy"]).toContain(`"${name}"`);
}

const CASES: [string, string, number, number, () => () => { path: string; json: unknown; from: string }][] = [
  [
    "signups of one address of the network",
    "signup_address",
    10,
    15,
    () => {
      const from = ownAddress();
      return () => ({ path: "/api/auth/signup", json: { email: newAddress(), org_name: "X" }, from });
    },
  ],
  [
    "signups of one e-mail address",
    "signup_email",
    3,
    8,
    () => {
      const email = newAddress();
      let upper = false;
      return () => {
        upper = !upper;
        const json = { email: upper ? email.toUpperCase() : email, org_name: "X" };
        return { path: "/api/auth/signup", json, from: ownAddress() };
      };
    },
  ],
  [
    "login codes asked for from one address of the network",
    "login_address",
    30,
    40,
    () => {
      const from = ownAddress();
      return () => ({ path: "/api/auth/login", json: { email: newAddress() }, from });
    },
  ],
  [
    "login codes asked for one e-mail address from one network",
    "login_email",
    10,
    15,
    () => {
      const [email, from] = [newAddress(), ownAddress()];
      return () => ({ path: "/api/auth/login", json: { email }, from });
    },
  ],
  [
    "login codes asked for one e-mail address from anywhere",
    "login_mailbox",
    100,
    105,
    () => {
      const email = newAddress();
      return () => ({ path: "/api/auth/login", json: { email }, from: ownAddress() });
    },
  ],
  [
    "codes tried for one e-mail address from one network",
    "verify_email",
    10,
    15,
    () => {
      const [email, from] = [newAddress(), ownAddress()];
      let signup = false;
      return () => {
        signup = !signup;
        const path = signup ? "/api/auth/signup/verify" : "/api/auth/verify";
        return { path, json: { email, code: "ABCD-EFGH" }, from };
      };
    },
  ],
];

test.each(CASES)(
  "%s are limited exactly, on two replicas at once and after a restart",
  async (_, name, limit, sent, begin) => {
    const next = begin();
    expectLimited(await send(sent, next), name, limit);
    const restarted = await service.listen();
    expect((await restarted.call({ method: "POST", ...next() })).status).toBe(429);
    await restarted.close();
    // Somebody else is not held up.
    expect((await service.call({ method: "POST", ...begin()() })).status).not.toBe(429);
  },
);

test("a refused call sends no mail, and limits do not reveal whether an address is known", async () => {
  const user = await service.signIn(await service.addOrg());
  for (const email of [user.email, newAddress()]) {
    const from = ownAddress();
    const answers = await send(12, () => ({ path: "/api/auth/login", json: { email }, from }));
    expectLimited(answers, "login_email", 10);
  }
  expect(await service.mails(user.email)).toHaveLength(10);
});

test("every limit of a call is in its answer's headers", async () => {
  const json = { email: newAddress(), org_name: "X" };
  const { headers } = await service.call({
    method: "POST",
    path: "/api/auth/signup",
    json,
    from: ownAddress(),
  });
  expect(headers["ratelimit-policy"]).toBe(
    `"signup_address";q=10;w=${ENDLESS_S}, "signup_email";q=3;w=${ENDLESS_S}`,
  );
  expect(headers["ratelimit"]).toMatch(/^"signup_address";r=9;t=\d+, "signup_email";r=2;t=\d+$/);
});

test("calls of one session are limited on all replicas together, never more than the limit", async () => {
  const user = await service.signIn(await service.addOrg());
  const get = (n: number): Promise<Answer> =>
    (n % 2 === 0 ? service : replica).call({ method: "GET", path: "/api/auth/me", token: user.token });
  const statuses: number[] = [];
  for (let n = 0; n < 60; n++) statuses.push((await get(n)).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(40);
  expect(statuses.slice(-10)).toEqual(Array<number>(10).fill(429));
  const restarted = await service.listen();
  expect((await restarted.call({ method: "GET", path: "/api/auth/me", token: user.token })).status).toBe(429);
  await restarted.close();
});
