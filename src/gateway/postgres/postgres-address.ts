import { SvcError } from '../../wire/errors/svc-error.ts';
import { parseAddress } from '../servers/server-address.ts';

/** The parts of the address of a state. */
export interface PostgresAddress {
  /** Without the parameters that only Svc knows, and with those that give `sslmode` the meaning that libpq has. */
  readonly connectionString: string;
  /** Name of the schema. Nothing outside of it is read or changed. */
  readonly schema: string;
  /** A server without TLS is used without it (`sslmode=prefer` and `allow`). */
  readonly plainWithoutTls: boolean;
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
/** See postgresql.org/docs/current/libpq-ssl.html. `no-verify` is that of other Node programs. */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** @throws SvcError configuration_error for an address that can't be read. It contains no credential. */
export function readPostgresAddress(url: string): PostgresAddress {
  const parsed = parseAddress(url);
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw invalid(
      '“gateway.state” is no address of a Postgres database.',
      'Use “sqlite” or “postgres://user@host:5432/database”. Encode special characters of the password.',
    );
  }
  const { searchParams } = parsed;
  const schema = searchParams.get('schema') ?? 'svc';
  if (!SCHEMA_NAME.test(schema)) {
    throw invalid(
      'The parameter “schema” of “gateway.state” is no name that Svc can use.',
      'Use small letters, digits and _, at most 63 characters.',
    );
  }
  searchParams.delete('schema');
  const mode = searchParams.get('sslmode');
  if (mode !== null && !SSL_MODES.includes(mode)) {
    throw invalid(
      'The parameter “sslmode” of “gateway.state” has an unknown value.',
      `Use one of ${SSL_MODES.join(', ')}.`,
    );
  }
  const plainWithoutTls = mode === 'prefer' || mode === 'allow';
  if (mode !== null) {
    searchParams.set('uselibpqcompat', 'true');
    // The certificates of the system are those that Node has.
    const system = searchParams.get('sslrootcert') === 'system';
    if (system) searchParams.delete('sslrootcert');
    if (system) searchParams.set('sslmode', 'verify-full');
    else if (mode === 'allow') searchParams.set('sslmode', 'prefer');
    else if (mode === 'no-verify') searchParams.set('sslmode', 'require');
  }
  return { connectionString: parsed.href, schema, plainWithoutTls };
}

/** As a parameter, because an address without a host, which is that of a socket, can have no other. */
export function withPassword(url: string, password: string | undefined): string {
  if (password === undefined) return url;
  const parsed = new URL(url);
  parsed.searchParams.set('password', password);
  return parsed.href;
}

/** `host:5432/database`, and the schema if it is not `svc`. @throws SvcError as `readPostgresAddress`. */
export function describeServer(url: string): string {
  const { schema } = readPostgresAddress(url);
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  const database = `${host === '' ? 'localhost' : host}:${port === '' ? '5432' : port}${pathname}`;
  return schema === 'svc' ? database : `${database}, schema ${schema}`;
}

function invalid(message: string, action: string): SvcError {
  return new SvcError({ errorType: 'configuration_error', message, action });
}
