/** What the local gateway is started for. */
export interface LaunchPlace {
  /** Absolute path of the terminal program that ships with the extension. */
  readonly cli: string;
  /** Whether the person trusts the workspace. */
  readonly trusted: boolean;
  /** Path of the first workspace folder, where it is on this machine. */
  readonly folder: string | undefined;
  readonly home: string;
}

/**
 * `svc serve` trusts the folder it is started in: one that the person does not trust has nothing to say,
 * and is not where the gateway works either, since a relative path of the environment would lead into it.
 */
export function gatewayLaunch({ cli, trusted, folder, home }: LaunchPlace): { args: string[]; cwd: string } {
  return trusted ? { args: [cli, 'serve'], cwd: folder ?? home } : { args: [cli, 'serve', '--no-project'], cwd: home };
}
