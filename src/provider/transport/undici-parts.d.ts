// Modules of undici that have no declarations of their own.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export default Agent;
}

declare module 'undici/lib/dispatcher/dispatcher.js' {
  import { Dispatcher } from 'undici';
  export default Dispatcher;
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import { EnvHttpProxyAgent } from 'undici';
  export default EnvHttpProxyAgent;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export default buildConnector;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export default Pool;
}

declare module 'undici/lib/api/index.js' {
  /** `request`, `connect` and other methods of dispatchers. */
  const api: Readonly<Record<string, unknown>>;
  export default api;
}

declare module 'undici/lib/handler/decorator-handler.js' {
  import type { Dispatcher } from 'undici';

  /** Passes all events to the inner handler. */
  export default class DecoratorHandler implements Dispatcher.DispatchHandler {
    constructor(handler: Dispatcher.DispatchHandler);
    onResponseError(controller: Dispatcher.DispatchController, error: Error): void;
  }
}
