import { describe, expect, test } from '@rstest/core';
import { drawingAddress, fill } from './prerendered.ts';

const answer = { data: [{ id: 'a/b?', title: '<b>画皮</b>', tags: ['惊悚', '人心', '志怪', '夜行'], note: null }] };

describe('prerendered content', () => {
  test('tokens become escaped text, addresses are encoded, lists are three words', () => {
    expect(fill('<a href="/story/lzu-data.0.id-lz">lz-data.0.title-lz · lz-data.0.tags-lz</a>', answer)).toBe(
      '<a href="/story/a%2Fb%3F">&lt;b&gt;画皮&lt;/b&gt; · 惊悚 · 人心 · 志怪</a>',
    );
  });

  test('sec.xss: a field cannot leave the attribute it stands in', () => {
    const hostile = { data: [{ title: '"><img src=x onerror=alert(1)>' }] };
    expect(fill('<img alt="lz-data.0.title-lz">', hostile)).toBe(
      '<img alt="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;">',
    );
  });

  test('an answer that is too short, or lacks a field, gives no half-filled page', () => {
    expect(fill('lz-data.1.title-lz', answer)).toBeNull();
    expect(fill('lz-data.0.note-lz', answer)).toBeNull();
  });

  test('a drawing goes into an address whole, and cannot leave the attribute it stands in', () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg"\n  width="3"><text fill="#A33">100% 「画皮」 &amp; \'</text></svg>';
    const address = drawingAddress(svg);
    expect(address).not.toMatch(/["&\n]/);
    expect(decodeURIComponent(address.replace('data:image/svg+xml,', ''))).toBe(svg.replace('\n  ', ' '));
  });
});
