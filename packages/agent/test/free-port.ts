export { freePort } from "../../../tests/e2e/harness/free-port.ts";
