import { startProduct } from '../product.ts';

/** One product for all engines; ends with the run. */
export default async function startSharedProduct() {
  const running = process.env.ENGINES_ORIGIN;
  if (running) return;
  const { origin, stop } = await startProduct({
    RATE_LIMIT_REGISTER: '1000',
    RATE_LIMIT_LOGIN: '1000',
    // slow enough for a reply to be seen growing
    STORYTELLER_PIECE_DELAY_MS: '120',
  });
  process.env.ENGINES_ORIGIN = origin;
  return stop;
}
