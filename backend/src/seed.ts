import { parseArgs } from 'node:util';
import { ConfigError, readEnv } from './env.ts';
import { seedConversation, seedStories, seedUser } from './seeding.ts';
import { createServices } from './server.ts';

const usage = `usage: tsx src/seed.ts --user <login> [--password 123456] [--name 读书人] [--balance 1000]
         [--story nie-xiaoqian] [--messages 10000] [--stories stories.json]
The server may be running; it uses the same DATA_DIR.`;

const { values } = parseArgs({
  options: {
    user: { type: 'string' },
    password: { type: 'string', default: '123456' },
    name: { type: 'string', default: '读书人' },
    balance: { type: 'string', default: '1000' },
    story: { type: 'string', default: 'nie-xiaoqian' },
    messages: { type: 'string', default: '0' },
    stories: { type: 'string' },
  },
});

try {
  if (!values.user && !values.stories) throw new ConfigError(usage);
  const services = await createServices(readEnv(process.env), Date.now);
  if (values.stories) console.log(`${seedStories(services, values.stories)} stories added`);
  if (values.user) {
    const user = await seedUser(services, {
      login: values.user,
      password: values.password,
      name: values.name,
      balance: Number(values.balance),
    });
    console.log(`user ${user.login} (${user.id}), ${user.balance} points`);
    const count = Number(values.messages);
    if (count > 0)
      console.log(`conversation ${seedConversation(services, user.id, values.story, count)} with ${count} messages`);
  }
  services.db.close();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(2);
}
