import './testing/pageFixture';
import { act, fakeApi, fakeRealtime, onTestEnd, screen } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { renderApp } from './renderApp';
import { serveBuild } from './testing/fakeRemotes';

beforeAll(() => {
  serveBuild('stories', { explore: async () => ({ default: () => <h1>书架</h1> }) });
});

/** What the server drew: the reader sees it before the app is there. */
function draw(): Element {
  history.replaceState(null, '', '/explore');
  document.body.innerHTML = '<div id="root"><div data-first="/explore"><main>六张卡片</main></div></div>';
  return screen.getByRole('main');
}

async function start(meanwhile = () => {}) {
  const network = fakeApi({});
  const socket = fakeRealtime();
  onTestEnd(network.restore);
  onTestEnd(socket.restore);
  await act(async () => {
    const root = renderApp();
    onTestEnd(() => root.unmount());
    meanwhile();
  });
  await screen.findByText('书架');
}

const scrolled = () => screen.getByRole('main').scrollTop;

describe('the app, when it takes the place of what the server drew,', () => {
  test('goes on where the reader has scrolled to', async () => {
    draw().scrollTop = 400;
    await start();
    expect(scrolled()).toBe(400);
  });

  test('knows of a step made while it was drawn', async () => {
    const drawn = draw();
    await start(() => {
      drawn.scrollTop = 90;
      drawn.dispatchEvent(new Event('scroll'));
    });
    expect(scrolled()).toBe(90);
  });

  test.each([
    ['left off before a reload, if nobody has scrolled since', 0, 250],
    ['has scrolled to since the reload', 60, 60],
  ])('goes on where the reader %s', async (_, since, expected) => {
    sessionStorage.setItem('liaozhai-scroll', JSON.stringify([['explore:/explore', 250]]));
    draw().scrollTop = since;
    await start();
    expect(scrolled()).toBe(expected);
  });
});
