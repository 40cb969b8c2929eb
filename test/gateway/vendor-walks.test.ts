import { runWalks, VendorWalks } from './vendor-walks.ts';

describe('walks between vendors', () => {
  let walks: VendorWalks;

  before(async () => {
    walks = await VendorWalks.start();
  });
  after(() => walks.close());

  it('walks: 500 conversations whose model changes at random are refused by no vendor, lose no text and cost what the vendors bill', () =>
    runWalks(walks, 500, 20_261_125));
});
