// Loaded into a gateway: writes the address of each connection that its process opens, and each name it looks up.
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import net from 'node:net';

const file = process.env.CONNECT_LOG ?? '';
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === 'object' && first !== null ? (first.host ?? first.path) : second;
  appendFileSync(file, `connect ${host}\n`);
  return connect.apply(this, args);
};
const { lookup } = dns;
dns.lookup = (host, ...rest) => {
  appendFileSync(file, `lookup ${host}\n`);
  return lookup(host, ...rest);
};
