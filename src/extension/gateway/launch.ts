/** The input for starting the local gateway. Does not import `vscode`, so that a test can start the gateway with it. */
export interface LaunchPlace {
  /** Absolute path of the terminal program that ships with the extension. */
  readonly cli: string;
  /** True if the workspace is trusted. */
  readonly trusted: boolean;
  /** Path of the first workspace folder, if it is on this machine. */
  readonly folder: string | undefined;
  readonly home: string;
}

/**
 * `svc serve` trusts its working directory. So an untrusted folder is not read, and it is not the working directory
 * either, because a relative path in an environment variable would then point into it.
 */
export function gatewayLaunch({ cli, trusted, folder, home }: LaunchPlace): { args: string[]; cwd: string } {
  return trusted ? { args: [cli, 'serve'], cwd: folder ?? home } : { args: [cli, 'serve', '--no-project'], cwd: home };
}
