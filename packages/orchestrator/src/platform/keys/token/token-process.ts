/**
 * The process that loads the PKCS#11 module. The service talks to it by messages: a module may
 * block for as long as it likes, crash, and keep its keys in memory, and none of that happens in
 * the service. It ends when the service does.
 */
import koffi from "koffi";
import { CK, Cryptoki } from "./cryptoki.ts";
import type {
  AnswerMessage,
  CallMessage,
  TokenAnswer,
  TokenCall,
  TokenFailure,
  TokenLogin,
} from "./token-calls.ts";
import { TokenObjects } from "./token-objects.ts";
import { TokenRefusal } from "./token-refusal.ts";

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

// Otherwise a call that never returns would outlive the service.
koffi.load("libc.so.6").func("int prctl(int option, unsigned long value)")(PR_SET_PDEATHSIG, SIGKILL);
process.on("disconnect", () => process.exit(0));
// A signal to the process group must stop only the service: whatever it still signs is signed here.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

let login: TokenLogin | null = null;
let opened: { cryptoki: Cryptoki; objects: TokenObjects } | null = null;

process.on("message", (message: TokenLogin | CallMessage) => {
  if ("module" in message) {
    login = message;
    return;
  }
  process.send?.(answerTo(message));
});

function answerTo({ id, call }: CallMessage): AnswerMessage {
  try {
    return { id, answer: carryOut(call) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

function carryOut(call: TokenCall): TokenAnswer {
  if (login === null) throw new Error("a call before the login");
  if (opened === null) {
    const cryptoki = new Cryptoki(login.module);
    opened = { cryptoki, objects: new TokenObjects(cryptoki, login) };
  }
  const { cryptoki, objects } = opened;
  switch (call.is) {
    case "find":
      return objects.find(call.uri, call.kind);
    case "generate":
      objects.generate(call.uri, call.kind);
      return null;
    case "import":
      objects.import(call.uri, call.kind, call.material);
      return null;
    case "sign": {
      const { session, object } = objects.handle(call.uri, call.kind);
      const mechanism = call.kind === "ed25519" ? CK.CKM_EDDSA : CK.CKM_ECDSA;
      return cryptoki.sign(session, mechanism, object, call.data);
    }
    case "encrypt":
    case "decrypt": {
      const { session, object } = objects.handle(call.uri, "aes256");
      return cryptoki[call.is](session, { iv: call.iv, aad: call.aad }, object, call.data);
    }
  }
}

function failureOf(error: unknown): TokenFailure {
  if (error instanceof TokenRefusal) return { reason: error.reason, message: error.message };
  return { reason: "refused", message: String(error) };
}
