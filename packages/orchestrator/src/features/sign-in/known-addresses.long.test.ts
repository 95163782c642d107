/** How long an answer takes tells nobody which addresses have an account. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownAddress } from "../../../test/client.ts";
import { startTestService, type TestService } from "../../../test/service.ts";
import { RATE_LIMITS } from "../../platform/http/route/rate-limits.ts";

let service: TestService;
beforeAll(async () => {
  const many = { limit: 100_000 };
  service = await startTestService({
    rateLimits: {
      login_email: { ...RATE_LIMITS.login_email, ...many },
      login_mailbox: { ...RATE_LIMITS.login_mailbox, ...many },
      signup_email: { ...RATE_LIMITS.signup_email, ...many },
    },
  });
});
afterAll(() => service.close());

test.each([
  ["signing in", "/api/auth/login", {}],
  ["signing up", "/api/auth/signup", { org_name: "Timed" }],
])("%s takes as long with an address that is known as with one that is not", async (_what, path, more) => {
  const user = await service.signIn(await service.addOrg());
  const times: Record<"known" | "unknown", number[]> = { known: [], unknown: [] };
  const measure = async (kind: "known" | "unknown", counted: boolean): Promise<void> => {
    const email = kind === "known" ? user.email : "nobody@example.org";
    const from = ownAddress();
    const begun = performance.now();
    await service.call({ method: "POST", path, json: { email, ...more }, from });
    if (counted) times[kind].push(performance.now() - begun);
  };
  // In turns, so that what slows the machine down slows both.
  for (let n = 0; n < 160; n++)
    for (const kind of n % 2 === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const))
      await measure(kind, n >= 10);
  // How often a known one takes longer than an unknown one: a half where nobody can tell. The
  // standard error is 0.033.
  let longer = 0;
  for (const known of times.known) for (const unknown of times.unknown) if (known > unknown) longer += 1;
  const share = longer / (times.known.length * times.unknown.length);
  expect(share).toBeGreaterThan(0.35);
  expect(share).toBeLessThan(0.65);
});
