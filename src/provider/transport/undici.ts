// undici's main module also loads its fetch, caches and mocks, which are more than half of it and not used here.
import api from 'undici/lib/api/index.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import DecoratorHandler from 'undici/lib/handler/decorator-handler.js';

// As the main module does.
Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector, DecoratorHandler, Dispatcher, EnvHttpProxyAgent, Pool };
