import { expect, afterAll, beforeAll, beforeEach } from "vitest";
import { type Answer, type Call, ownAddress } from "./client.ts";
import { startTestService, type TestOrg, type TestService, type TestUser } from "./service.ts";
import {
  type AssertionAsked,
  type CreationAsked,
  SoftwareAuthenticator,
  type Wrong,
} from "./software-authenticator.ts";

export let service: TestService;
export let org: TestOrg;
/** An admin; another one for each test. */
export let user: TestUser;

/** Of a file whose tests sign in with passkeys and recovery codes. */
export function usePasskeyService(): void {
  beforeAll(async () => {
    service = await startTestService();
    org = await service.addOrg();
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    user = await service.signIn(org, "admin");
  });
}

let attempts = 0;
export const newAttempt = (): string => `attempt-of-a-passkey-${++attempts}`;

export const post = (path: string, json: unknown, more: Partial<Call> = {}): Promise<Answer> =>
  service.call({ method: "POST", path, json, from: ownAddress(), ...more });

export const errorOf = ({ status, json }: Answer): unknown[] => [status, json["error"]];

export const newAuthenticator = (): SoftwareAuthenticator => new SoftwareAuthenticator(service.url);

export async function creationOptions(by: TestUser): Promise<CreationAsked> {
  const asked = await by.post("/api/auth/passkeys/options");
  expect(asked.status).toBe(200);
  return asked.json as unknown as CreationAsked;
}

export async function register(
  by: TestUser,
  authenticator = newAuthenticator(),
  wrong: Wrong = {},
): Promise<Answer> {
  const credential = authenticator.create(await creationOptions(by), wrong);
  return by.post("/api/auth/passkeys", { name: "Laptop", credential });
}

/** With its first passkey, and the recovery codes that came with it. */
export async function withPasskey(
  by = user,
): Promise<{ authenticator: SoftwareAuthenticator; codes: string[] }> {
  const authenticator = newAuthenticator();
  const added = await register(by, authenticator);
  expect(added.status).toBe(201);
  return { authenticator, codes: added.json["recovery_codes"] as string[] };
}

export async function requestOptions(attempt: string): Promise<AssertionAsked> {
  const asked = await post("/api/auth/passkey/options", { attempt });
  expect(asked.status).toBe(200);
  return asked.json as unknown as AssertionAsked;
}

export async function signInWith(authenticator: SoftwareAuthenticator, wrong: Wrong = {}): Promise<Answer> {
  const attempt = newAttempt();
  const credential = authenticator.get(await requestOptions(attempt), wrong);
  return post("/api/auth/passkey/verify", { attempt, credential });
}

export async function mailedCode(attempt: string, email = user.email): Promise<string> {
  await post("/api/auth/login", { email, attempt });
  return service.codeFor(email);
}

export const verify = (body: Record<string, unknown>, more: Partial<Call> = {}): Promise<Answer> =>
  post("/api/auth/verify", { email: user.email, ...body }, more);

/** As if they had signed in so long ago. */
export async function signedInAgo({ id }: TestUser, minutes: number): Promise<void> {
  await service.pool.query(
    "update sessions set signed_in_at = now() - make_interval(mins => $2::int) where user_id = $1",
    [id, minutes],
  );
}

export const subjects = async (): Promise<string[]> =>
  (await service.mails(user.email)).map(({ subject }) => subject);
