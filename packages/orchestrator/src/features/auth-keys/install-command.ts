/**
 * What is typed on a host to attach it. Without the key, which it asks for: what is typed ends up in a shell's history and in the
 * list of processes.
 */
export function installCommand(publicUrl: string): string {
  return `attestore init --service ${publicUrl}`;
}
