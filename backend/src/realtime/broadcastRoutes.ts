import { Hono } from 'hono';
import { type AppEnv, identityOf, userOf } from '../http/http.ts';
import { forbidden } from '../http/httpError.ts';
import { readInput } from '../http/input.ts';
import type { Services } from '../services.ts';
import { userChannel } from './events.ts';

const isSocketId = (value: unknown): value is string => typeof value === 'string' && /^\d{1,10}\.\d{1,10}$/.test(value);

/** Signs what a socket may listen to: the user's own channel and nothing else. */
export function broadcastRoutes(services: Services): Hono<AppEnv> {
  const { broadcaster } = services;
  return new Hono<AppEnv>()
    .post('/auth', async (c) => {
      const user = userOf(c);
      const { socket_id, channel_name } = await readInput(c);
      if (!isSocketId(socket_id) || channel_name !== userChannel(user.id)) throw forbidden();
      broadcaster.bindSession(socket_id, identityOf(c).sessionHash);
      return c.json({ auth: broadcaster.sign(`${socket_id}:${channel_name}`) });
    })
    .post('/user-auth', async (c) => {
      const user = userOf(c);
      const { socket_id } = await readInput(c);
      if (!isSocketId(socket_id)) throw forbidden();
      const user_data = JSON.stringify({ id: user.id, user_info: { name: user.name } });
      return c.json({ auth: broadcaster.sign(`${socket_id}::user::${user_data}`), user_data });
    });
}
