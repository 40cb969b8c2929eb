// Loaded into a gateway: its first process reads and sends messages about metrics as that of an earlier release does,
// or answers none of them (`?silent`).
import cluster from 'node:cluster';

const silent = import.meta.url.endsWith('?silent');
cluster.on('fork', (worker) => {
  const emit = worker.emit.bind(worker);
  worker.emit = (event, message, ...rest) => {
    const dropped = event === 'message' && message?.type === 'collect' && (silent || message.subject !== 'metrics');
    return !dropped && emit(event, message, ...rest);
  };
  const send = worker.send.bind(worker);
  worker.send = (message, ...rest) =>
    send(message.type === 'collect' ? { ...message, subject: 'metrics' } : message, ...rest);
});
