// Proxy to Postgres that can be frozen. It runs in a worker, since the test's thread blocks on its database.
import { connect, createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const pairs = new Set();
let isFrozen = false;

function hold([near, far]) {
  near.unpipe(far);
  far.unpipe(near);
}

function pass([near, far]) {
  near.pipe(far);
  far.pipe(near);
}

const server = createServer((near) => {
  const pair = [near, connect(workerData)];
  pairs.add(pair);
  for (const socket of pair) {
    socket.on('error', () => {});
    socket.on('close', () => {
      pairs.delete(pair);
      for (const each of pair) each.destroy();
    });
  }
  if (!isFrozen) pass(pair);
});

parentPort.on('message', (wanted) => {
  isFrozen = wanted;
  for (const pair of pairs) (isFrozen ? hold : pass)(pair);
  parentPort.postMessage('done');
});

server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
